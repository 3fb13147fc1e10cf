/**
 * Routes below `/__app/traces` that the dev command adds. They need permission to
 * read traces.
 *
 * @module
 */

import type { ConnectionInfo } from "../../core/context.ts";
import type { Tracer } from "../types.ts";
import { type Authorize, refuse } from "./access.ts";

/** Answers the allowed requests of one path. */
export type ExtraRoute = (
  request: Request,
  info: ConnectionInfo | undefined,
) => Response | Promise<Response>;

const routes = new WeakMap<Tracer, Map<string, ExtraRoute>>();

/**
 * Adds a route to the plugin of a tracer.
 *
 * @param path The path below `/__app/traces`, such as `/panel.js`.
 */
export function addRoute(
  tracer: Tracer,
  path: string,
  route: ExtraRoute,
): void {
  const ofTracer = routes.get(tracer) ?? new Map<string, ExtraRoute>();
  routes.set(tracer, ofTracer.set(path, route));
}

/** Returns the paths of the added routes. */
export function addedPaths(tracer: Tracer): string[] {
  return [...routes.get(tracer)?.keys() ?? []];
}

/** Returns the route at a path below `/__app/traces`, if one was added. */
export function routeAt(tracer: Tracer, path: string): ExtraRoute | undefined {
  return routes.get(tracer)?.get(path);
}

/** Answers a request by a route, or refuses it. */
export async function answer(
  route: ExtraRoute,
  rule: Authorize,
  request: Request,
  info: ConnectionInfo | undefined,
): Promise<Response> {
  return await refuse(rule, request, info, "read") ??
    await route(request, info);
}
