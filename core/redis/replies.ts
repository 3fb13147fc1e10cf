/**
 * Classifies Redis's error replies.
 *
 * @module
 */

/** The code that an error reply begins with. */
const REPLY = /^[A-Z]+ /;

/**
 * Replies of a server that starts, changes its role, or is busy. Another connection
 * may reach another server.
 */
const PASSING =
  /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|READONLY|UNBLOCKED|MOVED|ASK) /;

/** Replies of a server that can't write: no memory, disk or replicas. */
const FULL = /^(OOM|MISCONF|NOREPLICAS) /;

/** Whether the connection or its server failed. */
export function isConnectionLost({ message }: Error): boolean {
  return !REPLY.test(message) || PASSING.test(message);
}

/** Whether the server can't write at the moment. */
export function isFull({ message }: Error): boolean {
  return FULL.test(message);
}

/**
 * Returns an error without arguments. If Redis doesn't know a command, it repeats
 * its arguments, which may hold session ids and messages.
 */
export function withoutArguments(error: Error): Error {
  const end = error.message.indexOf(", with args beginning with:");
  return end < 0 ? error : new Error(error.message.slice(0, end));
}
