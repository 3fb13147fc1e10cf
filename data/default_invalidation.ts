/**
 * Functions that invalidate in the cache that a whole program shares.
 *
 * @module
 */

import { currentCache } from "./default_cache.ts";
import {
  groupNames,
  type RevalidateOptions,
  type RevalidateResult,
} from "./revalidation.ts";
import { createHandler } from "./revalidation_handler.ts";

/**
 * Invalidates everything with any of these tags. It takes effect in this process
 * at once. The cost doesn't depend on the number of values.
 *
 * @param tags The tags.
 * @throws {TypeError} If one isn't a non-empty string, as a rejection.
 *
 * @example
 * ```ts
 * import { revalidateTag, tags } from "@quartet/kit/data";
 *
 * const { success, revalidated } = await revalidateTag(tags.resource("post", 1));
 * console.assert(success && revalidated.tags[0] === "post:1");
 * ```
 */
export function revalidateTag(...tags: string[]): Promise<RevalidateResult> {
  return revalidate({ tags });
}

/**
 * Invalidates everything that belongs to these paths. `/posts/*` matches every
 * path below `/posts`, at any depth, but not `/posts` itself. `/*` matches every
 * path. Query, fragment and trailing slashes are ignored.
 *
 * @param paths The paths.
 * @throws {TypeError} If one doesn't begin with `/`, as a rejection.
 *
 * @example
 * ```ts
 * import { revalidatePath } from "@quartet/kit/data";
 *
 * const { revalidated } = await revalidatePath("/posts", "/posts/*");
 * console.assert(revalidated.paths.length === 2);
 * ```
 */
export function revalidatePath(...paths: string[]): Promise<RevalidateResult> {
  return revalidate({ paths });
}

/**
 * Invalidates tags and paths, or everything.
 *
 * @param options Tags and paths, or `all`.
 * @throws {TypeError} If an option is invalid, as a rejection.
 *
 * @example
 * ```ts
 * import { revalidate } from "@quartet/kit/data";
 *
 * await revalidate({ tags: ["post"], paths: ["/posts/*"] });
 * const { timestamp } = await revalidate({ all: true });
 * console.assert(timestamp <= Date.now());
 * ```
 */
export function revalidate(
  options: RevalidateOptions,
): Promise<RevalidateResult> {
  return currentCache().cache.revalidate(options);
}

/**
 * Invalidates tags and paths. Names that begin with `/` are paths.
 *
 * @param tagsOrPaths The tags and paths.
 * @throws {TypeError} If one isn't a non-empty string, as a rejection.
 *
 * @example
 * ```ts
 * import { onDemandRevalidate } from "@quartet/kit/data";
 *
 * const { revalidated } = await onDemandRevalidate("post", "/posts");
 * console.assert(revalidated.tags[0] === "post");
 * ```
 */
export function onDemandRevalidate(
  ...tagsOrPaths: string[]
): Promise<RevalidateResult> {
  return revalidate(groupNames(tagsOrPaths));
}

/**
 * Creates a webhook through which another system invalidates. It takes POST with
 * JSON of at most 64 KiB: `{ tags?, paths?, all? }`. It answers 200 with the
 * {@linkcode RevalidateResult}, or an error: 400, 401, 405, 413, or 503 if the
 * store can't be reached. Errors have the body
 * `{ "error": { "code", "message" } }`.
 *
 * @param secret The secret that requests must send as `Authorization: Bearer …`.
 * Without this argument, everyone may call the route, and a warning is logged.
 * @throws {TypeError} If the secret is empty or `undefined`, as an environment
 * variable that isn't set.
 *
 * @example
 * ```ts
 * import { createRevalidationHandler } from "@quartet/kit/data";
 *
 * const handler = createRevalidationHandler("a secret");
 * const request = new Request("http://localhost/", { method: "POST" });
 * const { status } = await handler(request);
 * console.assert(status === 401); // It has no `Authorization: Bearer a secret`.
 * ```
 */
export function createRevalidationHandler(
  secret?: string,
): (request: Request) => Promise<Response>;
export function createRevalidationHandler(...secret: [secret?: string]) {
  return createHandler(revalidate, secret);
}
