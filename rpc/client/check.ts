/**
 * Checks a client's options. Pages load this code: `core/check` would double
 * the size of a client.
 *
 * @module
 */

import type { ClientOptions, PlainOptions, ReconnectOptions } from "./types.ts";

const SOCKET = ["wsEndpoint", "webSocket", "reconnect", "heartbeatMs"] as const;
const HTTP = [
  "httpEndpoint",
  "fetch",
  "headers",
  "batch",
  "transformer",
] as const;
const RECONNECT = ["attempts", "delayMs", "maxDelayMs"] as const;

/** Fails to compile if one of the lists above is not complete. */
type Lists<T, Names> = [keyof T, Names] extends [Names, keyof T] ? true : never;
true satisfies Lists<PlainOptions, (typeof HTTP | typeof SOCKET)[number]>;
true satisfies Lists<ReconnectOptions, typeof RECONNECT[number]>;

/**
 * Checks the options of a client without subscriptions.
 *
 * @returns The endpoint as errors show it: without credentials and query, which
 * may hold secrets.
 * @throws {TypeError} If an option is unknown, or `httpEndpoint` isn't a URL.
 */
export function checkOptions(
  options: PlainOptions,
  known: readonly string[] = HTTP,
): string {
  // Callers may pass no options, or the endpoint itself.
  const httpEndpoint = options?.httpEndpoint;
  let shown: string | undefined;
  try {
    const url = new URL(
      // Neither of them is on a value that isn't a URL.
      (httpEndpoint as URL).href || (httpEndpoint as string).trim(),
      // Any base works, also on a server. No host's name begins with a hyphen.
      "http://-",
    );
    shown = url.origin + url.pathname;
  } catch {
    // It isn't a URL.
  }
  // No origin of another scheme begins with this letter.
  if (!/^h/.test(shown!)) {
    fail("httpEndpoint must be a URL, received " + httpEndpoint);
  }
  // A function for both checks would grow a client without subscriptions.
  for (const name in options) {
    if (!known.includes(name)) fail(`unknown option ${name}, known: ${known}`);
  }
  return shown!.replace("http://-", "");
}

/** Checks the options of a client with subscriptions. */
export function checkClient(options: ClientOptions) {
  const shown = checkOptions(options, [...HTTP, ...SOCKET]);
  const known: readonly string[] = RECONNECT;
  for (const name in options.reconnect as object) {
    if (!known.includes(name)) fail(`unknown option ${name}, known: ${known}`);
  }
  return shown;
}

function fail(problem: string) {
  throw new TypeError(`Cannot create client: ${problem}`);
}
