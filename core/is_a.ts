/** Like `instanceof`, but safe for a proxy that throws. */
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
