/**
 * Checks of a client's options, in few bytes: pages load them.
 *
 * @module
 */

import type { ClientOptions, PlainOptions, ReconnectOptions } from "./types.ts";

const SOCKET = ["wsEndpoint", "reconnect", "heartbeat"] as const;
const HTTP = [
  "httpEndpoint",
  "fetch",
  "headers",
  "batch",
  "transformer",
] as const;
const RECONNECT = ["attempts", "delay", "maxDelay"] as const;

/** Fails to compile if one of the lists above is not complete. */
type Lists<T, Names> = [keyof T, Names] extends [Names, keyof T] ? true : never;
true satisfies Lists<PlainOptions, (typeof HTTP | typeof SOCKET)[number]>;
true satisfies Lists<ReconnectOptions, typeof RECONNECT[number]>;

/** @throws {TypeError} If an option is unknown, or `httpEndpoint` isn't a URL. */
export function checkOptions(
  options: PlainOptions,
  more: readonly string[] = [],
) {
  // Not what the type says: no options, or the endpoint instead of them.
  const { httpEndpoint } = Object(options) as PlainOptions;
  let isURL;
  try {
    // Any base will do: components that are rendered on a server have no page.
    isURL = (typeof httpEndpoint === "string" || httpEndpoint instanceof URL) &&
      /^http/.test(new URL(httpEndpoint, "http://a") as never);
  } catch {
    // What can't be parsed isn't one.
  }
  if (!isURL) {
    fail(
      `httpEndpoint must be a URL, as in { httpEndpoint: "/api/rpc" }, received ${httpEndpoint}`,
    );
  }
  checkNames(options, [...HTTP, ...more]);
}

/** The same for a client with subscriptions. */
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
