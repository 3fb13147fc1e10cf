/**
 * The bounds of tracing in browsers. The bundler writes these numbers into the
 * code, because this module imports nothing.
 *
 * @module
 */

/** Maximum spans that wait for a connection. The oldest ones are dropped. */
export const MAX_QUEUE = 500;
/** Maximum characters of a message. `sendBeacon` takes 64 KiB. */
export const MAX_MESSAGE = 48_000;
/** The delay before spans are sent together, in milliseconds. */
export const BATCH_DELAY = 100;
/** Round trips that measure the clock offset. The quickest one counts. */
export const PINGS = 4;
/**
 * Half the delay before the first retry, in milliseconds. It doubles each time.
 */
export const MIN_WAIT = 500;
/** The delay that ends retries if no connection ever succeeded: 3 attempts. */
export const MAX_FIRST_WAIT = 4_000;
/** The same after a successful connection, because a server may restart. */
export const MAX_WAIT = 100_000;

/** Maximum events of a span. */
export const MAX_EVENTS = 64;

/** The idle time that ends a root, in milliseconds. It isn't part of the root. */
export const IDLE = 1_000;
/** The delay between two checks whether a root is idle, in milliseconds. */
export const CHECK_DELAY = 200;
/** Maximum duration of a root, in milliseconds. */
export const MAX_DURATION = 30_000;
/** Maximum roots that late resources find. */
export const MAX_ROOTS = 10;
/** Maximum resources of a root that become spans. Fewer than `MAX_QUEUE`. */
export const MAX_RESOURCES = 400;
/** Maximum characters of an element's description. */
export const MAX_LABEL = 40;
