/**
 * Tests that Node or Bun can't pass, for a reason outside of the package. They
 * are skipped. Each of them failed for the reason given here, except those that
 * only take too long.
 *
 * @module
 */

/** Names of skipped tests, by reason. */
export type Differences = Readonly<Record<string, readonly string[]>>;

/** Whether all tests run, as before a release. */
const IS_FULL = Deno.env.get("FULL") === "1";

const LONG: readonly string[] = [
  "10,001 sign-ins of one user evict no other user's session",
  "unpackTraces() reads or rejects any payload, and never hangs",
  "Parallel requests of 100 browsers each have their own user",
  "hashPassword() uses OWASP's recommendation by default",
  "Keys stay correct with many more calls than are remembered, and with few again",
  "An object with fewer properties isn't confused with one that has more",
  "Equal calls of different functions are independent",
  "createChannel() publishes to 10,000 subscribers at once",
  "Parallel sign-outs and refreshes leave nobody signed in",
  "Random invalidations among random calls never leave a stale value",
  "A client that reads its answers may send any number of messages",
  "1,000 parallel sign-ins create 1,000 separate sessions",
  "Random arguments have the same key only if they are equal",
  "A token in use is verified once, and again after 8 MiB of other tokens",
  "A token with any character changed, removed or doubled is anonymous",
  "mergeSpans() with 100,000 spans keeps those that fit",
  "10,000 subscribe messages with different traceparents leave a bounded number of traces",
  "Behind a proxy, networks are counted by the address that the application sets",
  "While three addresses flood the password queue with sign-ups, a fourth signs in promptly",
  "While three addresses flood the password queue with sign-ins, a fourth signs in promptly",
  "Password checks of sign-ins without a middleware are fair too",
  "sample: a caller neither forces nor suppresses a trace, by its id or by its flag",
  "sample: a fraction traces that share of requests",
  "Long keys count like short ones, but aren't stored",
  "With too many keys, the oldest are evicted and the newest are kept",
  "unpackTraces() detects every flipped bit that changes a trace",
  "A refresh runs once among a thousand others, and again if it failed",
  "A megabyte in every attribute of every span stays within the bound of a trace",
  "The message about 10,000 queries stays short",
  "Counters agree after many mixed operations",
  "A client initially receives at most 16 MiB: the newest traces",
];

const BOTH: Differences = {
  ...(IS_FULL ? {} : { "it takes seconds, and runs on Deno": LONG }),
  "its stack is smaller, so input nested 100,000 levels deep causes a 500": [
    "An input may be nested as deeply as the body limit allows",
  ],
  "its test servers speak HTTP/1.1 only": [
    "A body over HTTP/2 without Content-Length is answered as soon as it exceeds the limit",
  ],
  "it rejects headers over 16 KiB itself": [
    "With the strategy cookie, the cookie is the id's signature in exactly one spelling",
  ],
};

export const ON_NODE: Differences = {
  ...BOTH,
  "its fetch requires duplex to send a stream": [
    "tracedFetch() sends the arguments' request and doesn't change them",
  ],
  "ws delivers messages that arrive together without yielding in between": [
    "A failing logger doesn't prevent responses",
    "A subscription that ends late neither sends under its old id nor frees it",
    "Generators that don't end count after they are unsubscribed, up to twice the limit",
  ],
  "its digests take more iterations of the event loop": [
    "A stale page is served during its refresh, or if that fails",
  ],
  "its WebSocket emits no close event after a rejected handshake": [
    "A guard refuses cross-site WebSocket handshakes",
    "CSRF checks apply to providers that read what browsers send automatically",
  ],
  "its own fetch sets timers with the same global function": [
    "mock() waits for its delay",
  ],
};

export const ON_BUN: Differences = {
  ...BOTH,
  "its Response.json() adds a charset": [
    "GET returns the traces, newest first, in a form that can be deserialized",
  ],
  "its Response has no Content-Type for a text before it is sent": [
    "A text body ends the trace with its headers, if the host reports no completion",
    "traceMiddleware() returns synchronously if the rest of the chain does",
  ],
  "it sends headers with the first bytes of the body, not before": [
    "Over a real server, the trace ends when the whole body has been sent",
    "A client that disconnects in the middle of a body ends the trace",
    "A client that leaves an event stream is recorded in the trace",
  ],
  "its Request changes an unknown method to GET": [
    "An unknown method is recorded as _OTHER, with the original name",
  ],
};

/** Returns the reason for each test, by name. */
export function reasonsOf(differences: Differences): Map<string, string> {
  return new Map(
    Object.entries(differences).flatMap(([reason, names]) =>
      names.map((name) => [name, reason] as const)
    ),
  );
}
