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
  if (typeof value === "bigint") return { bigint: `${value}` };
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Map) return { map: [...value].map(toKey) };
  if (value instanceof Set) return { set: [...value].map(toKey) };
  if (Array.isArray(value)) return value.map(toKey);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, toKey(inner)]),
  );
}
