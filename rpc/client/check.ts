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

/** @throws {TypeError} If an option is unknown, or `httpEndpoint` isn't a URL. */
export function checkOptions(
  options: PlainOptions,
  more: readonly string[] = [],
) {
  // Callers may pass no options, or the endpoint itself.
  const { httpEndpoint } = Object(options) as PlainOptions;
  let isURL;
  try {
    // Any base works. On a server, components have no page.
    isURL = (typeof httpEndpoint === "string" || httpEndpoint instanceof URL) &&
      /^http/.test(new URL(httpEndpoint, "http://a") as never);
  } catch {
    // The text isn't a URL.
  }
  if (!isURL) {
    fail(
      `httpEndpoint must be a URL, as in { httpEndpoint: "/api/rpc" }, received ${httpEndpoint}`,
    );
  }
  checkNames(options, [...HTTP, ...more]);
}

/** Checks the options of a client with subscriptions. */
export function checkClient(options: ClientOptions) {
  checkOptions(options, SOCKET);
  checkNames(options.reconnect || {}, RECONNECT);
}

function checkNames(options: object, known: readonly string[]) {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) fail(`unknown option ${name}, known: ${known}`);
  }
}

function fail(problem: string) {
  throw new TypeError("Cannot create client: " + problem);
}
