import { methodNotAllowed } from "../core/error_response.ts";
import { PRIVATE_HEADERS as headers } from "../core/http/private_headers.ts";
import { routesOf } from "../trace/http/access.ts";
import type { Tracer } from "../trace/types.ts";

/**
 * Serves JSON at a path below the viewer.
 *
 * @param read Called with the query of a `GET`. Returns the value to send.
 */
export function serveJSON(
  tracer: Tracer,
  path: string,
  read: (query: URLSearchParams) => object | Promise<object>,
): void {
  routesOf(tracer).set(path, async ({ method, url }) => {
    if (method === "GET" || method === "HEAD") {
      return Response.json(await read(new URL(url).searchParams), { headers });
    }
    const message = `This path takes GET and HEAD, not ${method}`;
    return methodNotAllowed(message, "GET, HEAD");
  });
}
