import { replace } from "./replace.ts";
import { requestTrace, tracedPath, traceparentOf } from "./requests.ts";
import { confirm } from "./sender.ts";
import { ClientSpan } from "./span.ts";

/**
 * Replaces the page's `fetch`. The replacement opens a span for each request
 * and sends its id in `traceparent`. Results and errors stay the same. Requests
 * that already have a `traceparent` stay unchanged. Those with the mode `no-cors`
 * can't send it, and are linked like resources.
 */
export function patchFetch(): void {
  replace(globalThis, "fetch", (native) => async (...args) => {
    let request: Request | undefined;
    let path: string | false | undefined;
    try {
      // Not `instanceof`: the request may come from another frame.
      path = tracedPath((args[0] as Request).url ?? args[0]);
      // Like `fetch`, it reads these first.
      if (path) args = [request = new Request(...args)];
    } catch {
      // The page's own `fetch` reports the error.
    }
    if (
      !request || request.headers.has("traceparent") ||
      request.mode === "no-cors"
    ) return native(...args);
    const { signal, headers, method } = request;
    const trace = requestTrace();
    const span = new ClientSpan(trace, `fetch ${method} ${path}`, "request", {
      attributes: { "http.request.method": method, "url.path": path },
    });
    headers.set("traceparent", traceparentOf(span));
    try {
      const response = await native(request);
      span.setAttribute("http.response.status_code", response.status);
      // Without its id, the server may not have recorded the trace.
      confirm(
        trace,
        response.headers.get("x-app-trace-id")?.includes(trace.id),
      );
      return response;
    } catch (error) {
      // An abort isn't an error; a timeout is.
      if (signal.aborted && (error as Error)?.name !== "TimeoutError") {
        span.event("fetch.aborted");
      } else span.error(error);
      throw error;
    } finally {
      span.end();
    }
  });
}
