import { replace } from "./replace.ts";
import type { Requests } from "./requests.ts";

/**
 * Replaces the page's `fetch`. The replacement opens a span for each request
 * and sends its id in `traceparent`. Results and errors stay the same. Requests
 * that already have a `traceparent` stay unchanged.
 *
 * @param signal Restores the page's `fetch`.
 */
export function patchFetch(
  { isTraced, open }: Requests,
  signal: AbortSignal,
): void {
  const native = fetch;

  const patched: typeof fetch = async (...args) => {
    let request: Request | undefined;
    try {
      const [input] = args;
      // Not `instanceof`: the request may come from another frame.
      if (isTraced((input as Request).url ?? input)) {
        // Like `fetch`, it reads these first.
        request = new Request(...args);
      }
    } catch {
      // The page's own `fetch` reports the error.
    }
    if (!request) return native(...args);
    const { headers } = request;
    if (headers.has("traceparent")) return native(request);
    const call = open("fetch", request.method, request.url);
    headers.set("traceparent", call.traceparent);
    try {
      const response = await native(request);
      call.respond(response.status, response.headers.get("x-app-trace-id"));
      return response;
    } catch (error) {
      // An abort isn't an error; a timeout is.
      const isAborted = request.signal.aborted &&
        (error as Error)?.name !== "TimeoutError";
      call.fail(isAborted ? undefined : error);
      throw error;
    }
  };
  replace(globalThis, "fetch", patched, signal);
}
