/**
 * Tests of what Node or Bun do otherwise than Deno, whatever is installed there.
 * They are not run. Each was seen to fail for the reason that it has here; but
 * for those that only take long.
 *
 * @module
 */

/** Names of tests, by the reason why they are left out. */
export type Differences = Readonly<Record<string, readonly string[]>>;

const BOTH: Differences = {
  "it takes seconds, and runs on Deno": [
    "10,001 sign-ins of one user evict no other user's session",
    "unpackTraces() reads or refuses any payload, and never hangs",
    "Parallel requests of 100 browsers each have their own user",
    "hashPassword() uses OWASP's recommendation by default",
    "Many more calls than are remembered, and then few again",
    "An object with less in it is not taken for one with more",
    "Equal calls of different functions have nothing to do with each other",
    "createChannel() publishes to 10,000 subscribers at once",
    "Parallel sign-outs and refreshes leave nobody signed in",
    "Random invalidations among random calls never leave a stale value",
    "A client that reads its answers may ask as often as it likes",
    "1,000 parallel sign-ins create 1,000 separate sessions",
    "Random arguments have the same key exactly if they are equal",
  ],
  "its stack is smaller, so what is nested 100,000 deep is a 500": [
    "An input may be nested as deeply as the limit of bodies lets it",
  ],
  "it ends the process by what a listener for abort throws": [
    "What fails in finally after an unsubscribe reaches the log once and the client not at all",
    "A handler that throws when the connection is lost is heard of, and so is the loss by the others",
  ],
  "its servers here speak HTTP/1.1 only": [
    "A body over HTTP/2, which need not say how long it is, is answered as soon as it is over the limit",
  ],
  "it refuses headers of more than 16 KiB itself": [
    "With the strategy cookie, the cookie is the id's signature in exactly one spelling",
  ],
};

/** What Node does otherwise. */
export const ON_NODE: Differences = {
  ...BOTH,
  "its fetch wants to be told duplex when it sends a stream": [
    "tracedFetch() sends what it was given, and leaves that as it is",
  ],
  "ws hands on messages that came in together without a turn in between": [
    "A log that fails costs nobody an answer",
    "A subscription that ends late neither speaks under its old id nor frees it",
    "Generators that don't end count after they are unsubscribed, up to twice the limit",
  ],
  "its digests take more turns of the event loop": [
    "A stale page is given while a new one is made, or if that fails",
  ],
  "its WebSocket tells of no close after a handshake that was refused": [
    "A guard refuses cross-site WebSocket handshakes",
    "CSRF checks apply to providers that read what browsers send automatically",
  ],
  "its own fetch sets timers by the same global function": [
    "mock() waits for its delay",
  ],
};

/** What Bun does otherwise. */
export const ON_BUN: Differences = {
  ...BOTH,
  "its Response.json() adds a charset": [
    "GET gives the traces, the newest first, in a form that can be read back",
  ],
  "its Response has no type of a text before it is sent": [
    "A page is made once for its lifetime, with ETag, Age and Cache-Control",
    "a body that was made of text ends the trace with its headers, where no host tells more",
    "traceMiddleware() answers at once if the rest of the chain does",
  ],
  "it sends headers with the first bytes of a body, not before": [
    "over a real server the trace ends when the whole body has been sent",
    "a client that goes away in the middle of a body ends the trace",
    "a client that leaves an event stream is told in the trace",
  ],
  "its Request makes a GET of a method that it does not know": [
    "a method that no standard knows is told as _OTHER, with its name beside",
  ],
  "the status of its Response.error() is 0 on the wire as well": [
    "a response that can't be sent ends its trace as an error",
  ],
};

/** The reason for each test, by its name. */
export function reasonsOf(differences: Differences): Map<string, string> {
  return new Map(
    Object.entries(differences).flatMap(([reason, names]) =>
      names.map((name) => [name, reason] as const)
    ),
  );
}
