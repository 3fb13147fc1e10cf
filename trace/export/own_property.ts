/**
 * Sets a property as plain data, whatever its name. Assigning to a key called
 * `__proto__` would change the object's prototype instead.
 */
export function setOwn<T>(
  target: Record<string, T>,
  key: string,
  value: T,
): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    target[key] = value;
  }
}
