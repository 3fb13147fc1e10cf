/**
 * What all users of Redis in this package know about its clients and replies.
 *
 * @module
 */

/** Closes the connection of an `npm:redis` client at once, in any state. */
export function destroy(client: { destroy(): void }): void {
  try {
    client.destroy();
  } catch {
    // Clients before version 6 throw if the connection is already closed.
  }
}

/** Error replies begin with a code. */
const REPLY = /^[A-Z]+ /;
/** Replies of a server that starts, changes its role, or is busy. */
const TRANSIENT = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|READONLY) /;

/**
 * Whether trying again may help: the connection failed, or the server can't
 * serve requests at the moment. Any other reply is final.
 */
export function isTransient({ message }: Error): boolean {
  return !REPLY.test(message) || TRANSIENT.test(message);
}
