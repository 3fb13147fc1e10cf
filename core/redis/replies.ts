/**
 * Classifies Redis's error replies.
 *
 * @module
 */

/** The code that an error reply begins with, or its last attempt in `npm:ioredis`. */
const REPLY =
  /^([A-Z]+ |Too many Cluster redirections.*: (TRYAGAIN|ASK|MOVED) )/;

/**
 * Replies of a server that starts, changes its role, is busy, or has got a password.
 * Another connection may reach another server.
 */
const LOST =
  /^(LOADING|MASTERDOWN|CLUSTERDOWN|BUSY|NOAUTH|READONLY|UNBLOCKED|MOVED|ASK) /;

/** Replies of a server that lacks memory, disk or replicas, or is moving the keys. */
const TEMPORARY = /^(OOM|MISCONF|NOREPLICAS|TRYAGAIN|Too many Cluster) /;

/** Whether the connection or its server failed. */
export function isConnectionLost({ message }: Error): boolean {
  return !REPLY.test(message) || LOST.test(message);
}

/** Whether the command may succeed later on the same connection. */
export function isTemporary({ message }: Error): boolean {
  return TEMPORARY.test(message);
}

/**
 * Returns an error without arguments. If Redis doesn't know a command, it repeats
 * its arguments, which may hold session ids and messages.
 */
export function withoutArguments(error: Error): Error {
  const end = error.message.indexOf(", with args beginning with:");
  return end < 0 ? error : new Error(error.message.slice(0, end));
}
