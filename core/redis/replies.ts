/**
 * The meaning of Redis's error replies.
 *
 * @module
 */

/** Error replies begin with a code. */
const REPLY = /^[A-Z]+ /;

/**
 * Replies of a server that starts, changes its role, or is busy. Another
 * connection may reach a better one.
 */
const PASSING =
  /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|READONLY|UNBLOCKED|MOVED|ASK) /;

/** Replies of a server that can't write for lack of memory, disk or replicas. */
const FULL = /^(OOM|MISCONF|NOREPLICAS) /;

/** Whether the connection is of no more use: it failed, or its server did. */
export function isConnectionLost({ message }: Error): boolean {
  return !REPLY.test(message) || PASSING.test(message);
}

/** Whether the server can't write at the moment. */
export function isFull({ message }: Error): boolean {
  return FULL.test(message);
}

/**
 * Returns an error without the arguments that Redis repeats if it doesn't know a
 * command. They hold ids of sessions, and messages.
 */
export function withoutArguments(error: Error): Error {
  const end = error.message.indexOf(", with args beginning with:");
  return end < 0 ? error : new Error(error.message.slice(0, end));
}
