/** A method of any object. */
// deno-lint-ignore no-explicit-any -- methods of any object
export type Method = (...args: any[]) => unknown;

/**
 * Returns a stand-in for an object. Its methods run on the original, or are
 * those that `wrap` returns in their place.
 */
export function standIn<T extends object>(
  target: T,
  wrap: (name: string, method: Method) => Method | undefined,
): T {
  const methods = new Map<
    string | symbol,
    { value: unknown; method: Method }
  >();
  const proxy = new Proxy(target, {
    get(_target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (
        typeof value !== "function" || key === "constructor" ||
        isFixed(target, key)
      ) return value;
      const known = methods.get(key);
      if (known?.value === value) return known.method;
      const bound = function (...args: unknown[]): unknown {
        if (new.target) return Reflect.construct(value, args);
        const result = Reflect.apply(value, target, args);
        // A method that gives its object, to be chained, gives the stand-in.
        return result === target ? proxy : result;
      };
      const method = (typeof key === "string" && wrap(key, bound)) ||
        // A tag function such as postgres.js' `sql` has members of its own.
        Object.assign(bound, value);
      methods.set(key, { value, method });
      return method;
    },
    set(_target, key, value) {
      return Reflect.set(target, key, value, target);
    },
  });
  return proxy;
}

/** A proxy must not give another value for a member that can't change. */
function isFixed(target: object, key: string | symbol): boolean {
  const own = Object.getOwnPropertyDescriptor(target, key);
  return own !== undefined && !own.configurable && own.writable === false;
}
