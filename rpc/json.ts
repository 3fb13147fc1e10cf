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
  // Most outputs are JSON already. To see that in one look is a tenth of the
  // compiler's work of taking them apart.
  : T extends JSONValue ? T
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

/** What JSON leaves as it is. */
export type JSONValue =
  | string
  | number
  | boolean
  | null
  | readonly JSONValue[]
  | { readonly [key: string]: JSONValue | undefined };

/** What JSON leaves out. */
export type Unsendable = symbol | ((...args: never) => unknown);

/** What JSON makes an empty object of. */
export type Collection = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;

/** An element of an array after it has travelled: there are no gaps in JSON. */
export type JsonElement<T> = T extends undefined | Unsendable ? null
  : Jsonify<T>;
