/**
 * The type of a value after a round trip through JSON: a `Date` becomes a
 * string, a `Map` an empty object, and a function in an object disappears.
 *
 * @typeParam Absent The type that `undefined` and functions become.
 *
 * @example
 * ```ts
 * import type { Jsonify } from "@quartet/kit/rpc";
 *
 * const sent: Jsonify<{ at: Date }> = { at: new Date(0).toJSON() };
 * console.assert(sent.at === "1970-01-01T00:00:00.000Z");
 * ```
 */
export type Jsonify<T, Absent = undefined> = unknown extends T ? T
  // Most outputs are JSON already. Checking that first costs the compiler a
  // tenth of mapping them.
  : T extends JSONValue ? T
  : T extends void | symbol | ((...args: never) => unknown) ? Absent
  : T extends string | number | boolean | null ? T
  : T extends { toJSON(...args: never): infer J } ? Jsonify<J, Absent>
  : T extends bigint ? never
  : T extends readonly unknown[] ? { [K in keyof T]: Jsonify<T[K], null> }
  : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
    ? Record<string, never>
  : T extends object ? {
      [
        K in keyof T as T[K] extends symbol | ((...args: never) => unknown)
          ? never
          : Exclude<K, symbol>
      ]: Jsonify<T[K]>;
    }
  : never;

/** A value that JSON doesn't change. */
export type JSONValue =
  | string
  | number
  | boolean
  | null
  | readonly JSONValue[]
  | { readonly [key: string]: JSONValue | undefined };
