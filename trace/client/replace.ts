/**
 * Listeners and replaced functions, until tracing ends. A page has one tracer,
 * so its end is the module's.
 *
 * @module
 */

import type { BrowserEvent } from "./browser.ts";

const end = new AbortController();
const { signal } = end;

/** Restores the browser's functions, and removes the listeners. */
export function restore(): void {
  end.abort();
}

/** Listens to events of the window and everything below. */
export function listen(
  types: readonly string[],
  listener: (event: BrowserEvent) => void,
): void {
  for (const type of types) {
    addEventListener(type, listener as unknown as EventListener, {
      signal,
      capture: true,
    });
  }
}

/**
 * Replaces a function of the browser.
 *
 * @param owner The object that has the function.
 * @param name The function's name.
 * @param create Returns the replacement of the browser's own function.
 */
export function replace<T, K extends keyof T>(
  owner: T,
  name: K,
  create: (native: T[K]) => T[K],
): void {
  const native = owner[name];
  const replacement = owner[name] = create(native);
  signal.addEventListener("abort", () => {
    // Other code may have wrapped it in the meantime.
    if (owner[name] === replacement) owner[name] = native;
  });
}
