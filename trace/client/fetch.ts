import { replace } from "./replace.ts";
import {
  requestTrace,
  setStatus,
  tracedPath,
  traceparentOf,
} from "./requests.ts";
import { type ClientTrace, openSpan } from "./roots.ts";
import { confirm } from "./sender.ts";
import type { ClientSpan } from "./span.ts";

/**
 * Replaces the page's `fetch`. The replacement opens a span for each request
 * and sends its id in `traceparent`. Results and errors stay the same. Requests
 * that already have a `traceparent` stay unchanged.
 *
 * @param signal Restores the page's `fetch`.
 */
export function patchFetch(signal: AbortSignal): void {
  replace(globalThis, "fetch", (native) => async (...args) => {
    let request: Request | undefined;
    let trace: ClientTrace | undefined;
    let span: ClientSpan | undefined;
    try {
      const [input] = args;
      // Not `instanceof`: the request may come from another frame.
      const path = tracedPath((input as Request).url ?? input);
      if (path) {
        // Like `fetch`, it reads these first.
        args = [request = new Request(...args)];
        const { headers, method } = request;
        if (!headers.has("traceparent")) {
          trace = requestTrace();
          span = openSpan(trace, `fetch ${method} ${path}`, "request", {
            attributes: { "http.request.method": method, "url.path": path },
          });
          headers.set("traceparent", traceparentOf(span));
        }
      }
    } catch {
      // The page's own `fetch` reports the error.
    }
    try {
      const response = await native(...args);
      if (trace) {
        setStatus(span!, response.status);
        // Without its id, the server may not have recorded the trace.
        const id = response.headers.get("x-app-trace-id");
        confirm(trace, id?.includes(trace.id));
      }
      return response;
    } catch (error) {
      if (trace) {
        trace.isKnown = true;
        // An abort isn't an error; a timeout is.
        if (
          request!.signal.aborted && (error as Error)?.name !== "TimeoutError"
        ) {
          span!.event("fetch.aborted");
        } else span!.error(error);
      }
      throw error;
    } finally {
      span?.end();
    }
  }, signal);
}
