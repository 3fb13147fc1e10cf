/** A method of any object. */
// deno-lint-ignore no-explicit-any -- methods of any object
export type Method = (...args: any[]) => unknown;

/** The originals of stand-ins. */
const originals = new WeakMap<WeakKey, unknown>();

/** A pool takes back only the clients that it knows. */
const originalOf = (value: unknown) => originals.get(value as WeakKey) ?? value;

/**
 * Returns a stand-in for an object. Its methods are the results of `wrap`, or
 * run on the original. A call of the object itself has the name `()`.
 */
export function standIn<T extends object>(
  target: T,
  wrap: (name: string, method: Method) => Method | undefined,
): T {
  const methods = new Map<PropertyKey, readonly [value: unknown, Method]>();
  const proxy = new Proxy(target, {
    apply(_target, self, given) {
      const call = (...args: unknown[]) =>
        Reflect.apply(target as Method, self, args.map(originalOf));
      return (wrap("()", call) ?? call)(...given);
    },
    get(_target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (
        typeof value !== "function" || key === "constructor" ||
        isFixed(target, key)
      ) return value;
      const known = methods.get(key);
      if (known?.[0] === value) return known[1];
      const bound = function (...given: unknown[]): unknown {
        const args = given.map(originalOf);
        if (new.target) return Reflect.construct(value, args);
        const result = Reflect.apply(value, target, args);
        // A chainable method, which returns its object, returns the stand-in.
        return result === target ? proxy : result;
      };
      const method = (typeof key === "string" && wrap(key, bound)) ||
        // A tag function, such as `sql` of postgres.js, has its own members.
        Object.assign(bound, value);
      methods.set(key, [value, method]);
      return method;
    },
    set(_target, key, value) {
      return Reflect.set(target, key, value, target);
    },
  });
  originals.set(proxy, target);
  return proxy;
}

/** A proxy must return the same value for a member that can't change. */
function isFixed(target: object, key: string | symbol): boolean {
  const own = Object.getOwnPropertyDescriptor(target, key);
  return own !== undefined && !own.configurable && own.writable === false;
}
