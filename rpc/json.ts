/**
 * What a value is after it has travelled as JSON: a `Date` has become a
 * string, a `Map` an empty object, and a function in an object is gone.
 *
 * @example
 * ```ts
 * import type { Jsonify } from "@quartet/kit/rpc";
 *
 * const sent: Jsonify<{ at: Date }> = { at: new Date(0).toJSON() };
 * console.assert(sent.at === "1970-01-01T00:00:00.000Z");
 * ```
 */
export type Jsonify<T> = unknown extends T ? T
  : T extends string | number | boolean | null | undefined ? T
  : T extends { toJSON(...args: never): infer J } ? Jsonify<J>
  : T extends bigint ? never
  : T extends Unsendable ? undefined
  : T extends readonly unknown[] ? { [K in keyof T]: JsonElement<T[K]> }
  : T extends Collection ? Record<string, never>
  : T extends object ? {
      [K in keyof T as T[K] extends Unsendable ? never : K & string]: Jsonify<
        T[K]
      >;
    }
  : never;

type Unsendable = symbol | ((...args: never) => unknown);

type Collection = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;

/** An array has no gaps in JSON. */
type JsonElement<T> = T extends undefined | Unsendable ? null : Jsonify<T>;
