/**
 * Names the route of a request.
 *
 * @module
 */

import type { SpanData } from "../types.ts";
import { methodOf } from "./attributes.ts";
import { metadataOf } from "./semantics.ts";
import { pathWithProcedure } from "./trace_facts.ts";

/**
 * Returns the method and route of a request's span as one text. `undefined` for
 * other spans.
 */
export function routeKeyOf(span: SpanData): string | undefined {
  if (span.layer !== "request" || !methodOf(span)) return undefined;
  const { method = "", pathname = span.name, routePattern: route = "" } =
    metadataOf(span);
  return requestKey(method, pathWithProcedure(pathname, route), route);
}

/** Returns the method, and the route or else the path, as one text. */
export function requestKey(
  method: string,
  path: string,
  route: string,
): string {
  return `${method} ${route === "" ? path : route}`;
}
