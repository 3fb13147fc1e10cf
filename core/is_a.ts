/** `instanceof`, also for a thrown proxy that throws when it is asked. */
export function isA<T>(
  value: unknown,
  type: abstract new (...args: never) => T,
): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
