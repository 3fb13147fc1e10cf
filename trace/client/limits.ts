/**
 * The bounds of tracing in browsers. The bundler writes these numbers into the
 * code, because this module imports nothing.
 *
 * @module
 */

/** Maximum spans that wait for the server. The oldest ones are dropped. */
export const MAX_QUEUE = 500;
/**
 * Maximum characters of a message. Requests that outlive a page take 64 KiB, and a
 * character up to three bytes.
 */
export const MAX_MESSAGE = 21_000;
/**
 * The delay before spans are sent together, in milliseconds. It doubles with
 * each failure.
 */
export const BATCH_DELAY = 100;
/** The delay that doesn't double any more, in milliseconds. */
export const MAX_DELAY = 30_000;
/** Round trips that measure the clock offset before spans are sent. */
export const PINGS = 4;

/** Maximum events of a span. The server takes as many. */
export const MAX_EVENTS = 64;

/** The idle time that ends a root, in milliseconds. It isn't part of the root. */
export const IDLE = 1_000;
/** The delay between two checks whether a root is idle, in milliseconds. */
export const CHECK_DELAY = 200;
/** Maximum duration of a root, in milliseconds. */
export const MAX_DURATION = 30_000;
/** Maximum roots that late resources find, with interactions without one. */
export const MAX_ROOTS = 100;
/** Maximum characters of an element's description. */
export const MAX_LABEL = 40;
