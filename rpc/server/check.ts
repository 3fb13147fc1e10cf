/**
 * Checks of what a router is served with and called through.
 *
 * @module
 */

import { kindOf, show } from "../../core/check/show.ts";

/** Where a router is served unless told otherwise. */
export const DEFAULT_ENDPOINT = "/api/rpc";

/**
 * Checks the path of an endpoint, in the spelling that requests have it in.
 *
 * @param operation What can't be done with a wrong one, such as `create RPC plugin`.
 * @throws {TypeError} If it is none.
 */
export function checkEndpoint(endpoint: unknown, operation: string): void {
  if (
    typeof endpoint === "string" && /^\/.*[^/]$/.test(endpoint) &&
    URL.parse(`http://localhost${endpoint}`)?.pathname === endpoint
  ) return;
  throw new TypeError(
    `Cannot ${operation}: endpoint must be a path such as "/api/rpc", without a slash at its end, received ${
      show(endpoint)
    }`,
  );
}

/**
 * Checks that something is a router.
 *
 * @param parts What is going to be used of it.
 * @throws {TypeError} If one of these isn't there.
 */
export function checkRouter(
  router: unknown,
  parts: readonly ("_def" | "handler" | "websocket")[],
  operation: string,
): void {
  const object = Object(router) as Record<string, unknown>;
  if (parts.every((part) => object[part] !== undefined)) return;
  throw new TypeError(
    `Cannot ${operation}: router must be what createRouter() gives, received ${
      kindOf(router)
    }`,
  );
}
