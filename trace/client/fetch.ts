import type { BrowserDocument } from "./browser.ts";
import { randomId } from "./clock.ts";
import type { Sender } from "./sender.ts";
import { ClientSpan } from "./span.ts";

declare const document: BrowserDocument;

/**
 * Replaces the page's `fetch`. The replacement opens a span for each request
 * and sends its id in `traceparent`. Results and errors stay the same. Requests
 * that already have a `traceparent` stay unchanged.
 *
 * @param origins The origins that get `traceparent`.
 * @param sender Takes the spans.
 * @returns A function that restores the page's `fetch`.
 */
export function patchFetch(
  origins: readonly string[],
  sender: Sender,
): () => void {
  const native = fetch;

  const patched: typeof fetch = async (...args) => {
    let request: Request | undefined;
    let path = "";
    try {
      // Not `instanceof`: the request may come from another frame.
      const [input] = args;
      const url = new URL((input as Request).url ?? input, document.baseURI);
      path = url.pathname;
      if (origins.includes(url.origin) && !path.startsWith("/__app/")) {
        // Like `fetch`, it reads these first.
        request = new Request(...args);
      }
    } catch {
      // The page's own `fetch` reports the error.
    }
    if (!request) return native(...args);
    const { headers, method } = request;
    if (headers.has("traceparent")) return native(request);
    const traceId = randomId(16);
    const span = new ClientSpan(
      sender.add,
      traceId,
      null,
      `fetch ${method} ${path}`,
      "request",
      { attributes: { "http.request.method": method, "url.path": path } },
    );
    headers.set("traceparent", `00-${traceId}-${span.id}-01`);
    try {
      const response = await native(request);
      const { status } = response;
      span.setAttribute("http.response.status_code", status);
      if (status >= 400) {
        // OpenTelemetry: for clients, 4xx is an error too.
        span.setAttribute("error.type", `${status}`);
        span.error();
      }
      // Without this header, the server has no trace for the span.
      if (response.headers.get("x-app-trace-id") === traceId) {
        sender.confirm();
        span.end();
      }
      return response;
    } catch (error) {
      // An abort isn't an error; a timeout is.
      if (
        request.signal.aborted && (error as Error)?.name !== "TimeoutError"
      ) span.event("fetch.aborted");
      else span.error(error);
      span.end();
      throw error;
    }
  };

  globalThis.fetch = patched;
  return () => {
    // Other code may have wrapped it in the meantime.
    if (fetch === patched) globalThis.fetch = native;
  };
}
