import type { BrowserDocument } from "./browser.ts";
import { randomId } from "./clock.ts";
import type { Sender } from "./sender.ts";
import { ClientSpan } from "./span.ts";

declare const document: BrowserDocument;

/**
 * Replaces the page's `fetch` by one that gives each request a trace, sends it
 * in `traceparent`, and records how long the response took. Results and errors
 * stay as they are, and so do requests that already have a `traceparent`.
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
      // A request, also one of another frame, has a `url`; a `URL` has none.
      const [input] = args;
      const url = new URL((input as Request).url ?? input, document.baseURI);
      path = url.pathname;
      if (origins.includes(url.origin) && !path.startsWith("/__app/")) {
        // `fetch` begins with it as well.
        request = new Request(...args);
      }
    } catch {
      // The page's own `fetch` says what is wrong.
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
        // OpenTelemetry: to the one who asked, 4xx is a failure as well.
        span.setAttribute("error.type", `${status}`);
        span.error();
      }
      // Without it, the server has no trace that the span could join.
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
    // Somebody may have put theirs around this one in the meantime.
    if (fetch === patched) globalThis.fetch = native;
  };
}
