import type { DataTag } from "@tanstack/query-core";
import { bytesOf } from "../../core/bytes/bytes.ts";
import { kindOf } from "../../core/check/rules.ts";
import type { RPCClientError } from "../client/error.ts";
import { PATH } from "../path_proxy.ts";
import type { CallLike, DataOf } from "./types.ts";

/** A key of TanStack Query's cache. */
export type QueryKey = readonly unknown[];

/**
 * A key with the type of its data, for `getQueryData(key)` and others. The tag
 * exists in types only, and is TanStack Query's.
 *
 * @internal
 */
export type KeyOf<Data> = DataTag<QueryKey, Data, RPCClientError>;

/**
 * Returns the key of a query. Without an input, or for a router, it returns the
 * common start of all keys, which TanStack Query's filters accept.
 *
 * Keys begin with the path, so two routers with equal paths each need their own
 * `QueryClient`.
 *
 * @param target A query of a client, such as `rpc.posts.list.query`, or a
 * router, such as `rpc.posts`.
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
  // The start of many keys, with data of unknown types.
  : QueryKey;
/** Returns the key of a query with this input. */
export function queryKey<Input, Output>(
  target: CallLike<Input, Output>,
  input: NoInfer<Input>,
): KeyOf<DataOf<Output>>;
export function queryKey(target: object, input?: unknown): QueryKey {
  return keyOf(pathOf(target), input);
}

/** Returns the key of a path, with one input or for all inputs. */
export function keyOf(path: QueryKey, input: unknown): QueryKey {
  return input === undefined ? path : [...path, { input: toKey(input) }];
}

/**
 * Returns the path of a part of a client.
 *
 * @param method The required end of the path, if any.
 * @throws {TypeError} If it isn't a part of a client, or ends in something
 * else.
 */
export function pathOf(target: object, method?: string): readonly string[] {
  const path = (target as { readonly [PATH]?: unknown } | null)?.[PATH];
  if (!Array.isArray(path)) {
    const received = kindOf(target);
    throw new TypeError(
      `Cannot create query key: target must be a part of a client, such as rpc.posts.list.query, received ${received}`,
    );
  }
  if (method === undefined || path.at(-1) === method) return path;
  const shown = path.join(".");
  throw new TypeError(
    `Cannot create options for ${shown}: it must end in .${method}, as in rpc.posts.list.${method}`,
  );
}

/**
 * Converts values that JSON can't distinguish, because TanStack Query compares
 * keys by their JSON.
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

/** Unambiguous, because an object with such a key is tagged itself. */
const TAG = "~type";

function tag(type: string, value: unknown): unknown {
  return { [TAG]: type, value };
}

/** In a list, JSON would turn `undefined` into `null`. */
function list(values: readonly unknown[], around: readonly object[]): unknown {
  return Array.from(
    values,
    (value) => value === undefined ? tag("undefined", 0) : toKey(value, around),
  );
}

/** Whether an object's text is its whole value, which JSON would omit. */
function isText(value: object): boolean {
  return value instanceof RegExp || value instanceof Error ||
    value instanceof URL || value instanceof URLSearchParams;
}
