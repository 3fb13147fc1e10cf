import type { DataTag } from "@tanstack/query-core";
import { kindOf } from "../../core/check/show.ts";
import type { RPCClientError } from "../client/error.ts";
import { PATH } from "../path_proxy.ts";
import type { CallLike, DataOf } from "./types.ts";

/** A key of TanStack Query's cache. */
export type QueryKey = readonly unknown[];

/**
 * A key that says what is cached under it, so that `getQueryData(key)` and the
 * like have a type. There is nothing more in the key itself, and what the tag
 * is made of is TanStack Query's own business.
 *
 * @internal
 */
export type KeyOf<Data> = DataTag<QueryKey, Data, RPCClientError>;

/**
 * Returns the key under which a query is cached, or the start of the keys of all
 * its inputs, or of all the queries of a router: TanStack Query's filters accept
 * both.
 *
 * Keys begin with the path, so the queries of two routers with equal paths
 * need a `QueryClient` each.
 *
 * @param target A query of a client, such as `rpc.posts.list.query`, or a
 * router in it, such as `rpc.posts`.
 * @param input The input. Default: every input, and the query without one.
 * @throws {TypeError} If `target` isn't a part of a client.
 *
 * @example
 * ```ts
 * import { createClient } from "@quartet/kit/rpc/client";
 * import { createRouter, procedure } from "@quartet/kit/rpc";
 * import { queryKey } from "@quartet/kit/rpc/tanstack";
 *
 * const api = createRouter({ posts: { list: procedure.query(() => []) } });
 * const rpc = createClient<typeof api>({ httpEndpoint: "/api/rpc" });
 *
 * console.assert(queryKey(rpc.posts).join() === "posts");
 * const list = queryKey(rpc.posts.list.query);
 * console.assert(list.join() === "posts,list,query");
 * ```
 */
export function queryKey<Target extends object>(
  target: Target,
): Target extends (input?: undefined) => Promise<infer Output>
  ? KeyOf<DataOf<Output>>
  // The start of many keys: there is no telling what is cached under them.
  : QueryKey;
/** Returns the key of a query with this input. */
export function queryKey<Input, Output>(
  target: CallLike<Input, Output>,
  input: NoInfer<Input>,
): KeyOf<DataOf<Output>>;
export function queryKey(target: object, input?: unknown): QueryKey {
  return keyOf(pathOf(target), input);
}

/** The key of what is at a path, with an input or for all of them. */
export function keyOf(path: QueryKey, input: unknown): QueryKey {
  return input === undefined ? path : [...path, { input: toKey(input) }];
}

/**
 * The path of a part of a client.
 *
 * @param method What the path has to end in, if anything.
 * @throws {TypeError} If it is none, or ends in something else.
 */
export function pathOf(target: object, method?: string): readonly string[] {
  const path = (target as { readonly [PATH]?: unknown } | null)?.[PATH];
  if (!Array.isArray(path)) {
    throw new TypeError(
      `Cannot make a key: expected a part of a client, such as rpc.posts.list.query, received ${
        kindOf(target)
      }`,
    );
  }
  if (method === undefined || path.at(-1) === method) return path;
  throw new TypeError(
    `Cannot make options of ${
      path.join(".")
    }: it must end in .${method}, as rpc.posts.list.${method} does`,
  );
}

/**
 * TanStack Query tells keys apart by their JSON. What a transformer carries
 * beyond that would be equal there, or an error.
 *
 * @param around The objects that hold the value, from the outside in.
 */
export function toKey(
  value: unknown,
  around: readonly object[] = [],
): unknown {
  if (typeof value === "bigint") return tag("bigint", `${value}`);
  if (typeof value === "number") {
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : tag("number", Object.is(value, -0) ? "-0" : `${value}`);
  }
  if (typeof value !== "object" || value === null) return value;
  const depth = around.indexOf(value);
  if (depth !== -1) return tag("cycle", depth);
  const within = [...around, value];
  if (Array.isArray(value)) return list(value, within);
  if (value instanceof Map) return tag("map", list([...value], within));
  if (value instanceof Set) return tag("set", list([...value], within));
  if (value instanceof Date) return tag("date", `${value.getTime()}`);
  const bytes = bytesOf(value);
  if (bytes) return tag(Object.prototype.toString.call(value), bytes.join());
  if (isText(value)) {
    return tag(Object.prototype.toString.call(value), `${value}`);
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
    return value;
  }
  const made = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, toKey(inner, within)]),
  );
  return TAG in made ? tag("object", made) : made;
}

/** No input has this form: an object with such a key is tagged itself. */
const TAG = "~type";

function tag(type: string, value: unknown): unknown {
  return { [TAG]: type, value };
}

/** In a list, JSON would make `null` of `undefined`. */
function list(values: readonly unknown[], around: readonly object[]): unknown {
  return Array.from(
    values,
    (value) => value === undefined ? tag("undefined", 0) : toKey(value, around),
  );
}

/** The bytes of a buffer, or of what is a view of one. */
function bytesOf(value: object): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

/** Whether all there is to an object is its text, which JSON would leave out. */
function isText(value: object): boolean {
  return value instanceof RegExp || value instanceof Error ||
    value instanceof URL || value instanceof URLSearchParams;
}
