import { PATH } from "../path_proxy.ts";
import type { CallLike } from "./types.ts";

/** A key of TanStack Query's cache. */
export type QueryKey = readonly unknown[];

/**
 * Gives the key under which a query is cached, or the beginning of the keys of
 * all its inputs, or of all the queries of a router: TanStack Query's filters
 * take it for both.
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
 * import { assertEquals } from "@std/assert";
 *
 * const api = createRouter({ posts: { list: procedure.query(() => []) } });
 * const rpc = createClient<typeof api>({ httpEndpoint: "/api/rpc" });
 *
 * assertEquals(queryKey(rpc.posts.list.query), ["posts", "list", "query"]);
 * assertEquals(queryKey(rpc.posts), ["posts"]);
 * ```
 */
export function queryKey<Input>(
  target: CallLike<Input, unknown>,
  input?: NoInfer<Input>,
): QueryKey;
/** Gives the beginning of the keys of a router's queries. */
export function queryKey(target: object): QueryKey;
export function queryKey(target: object, input?: unknown): QueryKey {
  const path = pathOf(target);
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
        target === null ? "null" : typeof target
      }`,
    );
  }
  if (method === undefined || path.at(-1) === method) return path;
  throw new TypeError(
    `Cannot make options of ${path.join(".")}: expected a .${method}`,
  );
}

/**
 * TanStack Query tells keys apart by their JSON. What a transformer carries
 * beyond that would be equal there, or an error.
 */
export function toKey(value: unknown): unknown {
  if (typeof value === "bigint") return tag("bigint", `${value}`);
  if (typeof value === "number") {
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : tag("number", Object.is(value, -0) ? "-0" : `${value}`);
  }
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Map) return tag("map", list([...value]));
  if (value instanceof Set) return tag("set", list([...value]));
  if (value instanceof Date) return tag("date", `${value.getTime()}`);
  if (value instanceof RegExp) return tag("regexp", `${value}`);
  if (Array.isArray(value)) return list(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const made = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, toKey(inner)]),
  );
  return TAG in made ? tag("object", made) : made;
}

/** No input has this form: an object with such a key is tagged itself. */
const TAG = "~type";

function tag(type: string, value: unknown): unknown {
  return { [TAG]: type, value };
}

/** In a list, JSON would make `null` of `undefined`. */
function list(values: readonly unknown[]): unknown {
  return Array.from(
    values,
    (value) => value === undefined ? tag("undefined", 0) : toKey(value),
  );
}
