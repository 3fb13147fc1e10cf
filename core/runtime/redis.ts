/**
 * What the parts of the kit that use Redis know of it and of its clients.
 *
 * @module
 */

/** Closes the connection of a client of `npm:redis`, whatever is going on. */
export function destroy(client: { destroy(): void }): void {
  try {
    client.destroy();
  } catch {
    // Before version 6, for one that is closed already.
  }
}

/** What Redis answers with, where it doesn't do what it is told. */
const REPLY = /^[A-Z]+ /;
/** The answers of one that starts, changes its role, or is busy. */
const TRANSIENT = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|READONLY) /;

/**
 * Whether a failure may pass: it is one of the connection, or the answer of a
 * server that isn't the one to ask now. Any other answer is for good.
 */
export function isTransient({ message }: Error): boolean {
  return !REPLY.test(message) || TRANSIENT.test(message);
}
