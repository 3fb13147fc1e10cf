/**
 * Replaces a function of the browser.
 *
 * @param owner The object that has the function.
 * @param name The function's name.
 * @param create Returns the replacement of the browser's own function.
 * @param signal Restores the browser's own function.
 */
export function replace<T, K extends keyof T>(
  owner: T,
  name: K,
  create: (native: T[K]) => T[K],
  signal: AbortSignal,
): void {
  const native = owner[name];
  const replacement = owner[name] = create(native);
  signal.addEventListener("abort", () => {
    // Other code may have wrapped it in the meantime.
    if (owner[name] === replacement) owner[name] = native;
  });
}
