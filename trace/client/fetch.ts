import { replace } from "./replace.ts";
import { type EndRequest, openRequest, tracedPath } from "./requests.ts";

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
    let end: EndRequest | undefined;
    try {
      const [input] = args;
      // Not `instanceof`: the request may come from another frame.
      const path = tracedPath((input as Request).url ?? input);
      if (path) {
        // Like `fetch`, it reads these first.
        args = [request = new Request(...args)];
        const { headers, method } = request;
        if (!headers.has("traceparent")) {
          const [traceparent, endRequest] = openRequest("fetch", method, path);
          headers.set("traceparent", traceparent);
          end = endRequest;
        }
      }
    } catch {
      // The page's own `fetch` reports the error.
    }
    try {
      const response = await native(...args);
      end?.(response.status, response.headers.get("x-app-trace-id"));
      return response;
    } catch (error) {
      // An abort isn't an error; a timeout is.
      const isAborted = request?.signal.aborted &&
        (error as Error)?.name !== "TimeoutError";
      end?.(undefined, "", isAborted ? undefined : error);
      throw error;
    }
  }, signal);
}
