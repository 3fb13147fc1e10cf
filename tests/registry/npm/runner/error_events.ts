/**
 * The `error` events of uncaught errors, which the global scope of Node and Bun
 * lacks. Only bundled tests use them: to the package, the globals are unchanged.
 *
 * @module
 */

type Listener = (event: Event & { readonly error: unknown }) => void;

const listeners = new Set<Listener>();

/** Replacements for two functions of the global scope. */
export const errorEvents = {
  addEventListenerOfTests: (type: string, listener: Listener) => {
    if (type !== "error") throw new Error(`No events of ${type}`);
    listeners.add(listener);
  },
  removeEventListenerOfTests: (_type: string, listener: Listener) => {
    listeners.delete(listener);
  },
};

/** Calls the listeners. Returns whether one of them has handled the error. */
export function dispatchError(error: unknown): boolean {
  const event = new Event("error", { cancelable: true });
  for (const listener of listeners) listener(Object.assign(event, { error }));
  return event.defaultPrevented;
}

/** Removes the listeners of a test that couldn't do so itself. */
export function removeErrorListeners(): void {
  listeners.clear();
}
