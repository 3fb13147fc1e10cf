/**
 * A rate limit store in Deno KV, shared by all processes that open the same
 * database. `Deno.openKv()` needs `"unstable": ["kv"]` in your `deno.json`, or the
 * flag `--unstable-kv`.
 *
 * @example A rate limit in Deno KV
 * ```ts
 * import { createCaller, createRouter, procedure, rateLimit } from "@quartet/kit/rpc";
 * import { createKvRateLimitStore } from "@quartet/kit/rpc/kv";
 *
 * // In production: a path, or nothing on Deno Deploy.
 * using kv = await Deno.openKv(":memory:");
 * const store = createKvRateLimitStore({ kv, name: "shop" });
 *
 * // Each caller has 100 calls a minute, at all processes together.
 * const limited = procedure.use(
 *   rateLimit({
 *     limit: 100,
 *     windowMs: 60_000,
 *     store,
 *     name: "search",
 *     key: () => "ada",
 *   }),
 * );
 * const router = createRouter({ search: limited.query(() => "found") });
 *
 * console.assert(await createCaller(router).search.query() === "found");
 * ```
 *
 * @module
 */

export * from "../core/limits/kv_rate_limit_store.ts";
