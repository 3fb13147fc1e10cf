/**
 * The response headers by which tracing tells the client its trace.
 *
 * @module
 */

/** The header with the trace's id. */
export const TRACE_ID = "x-app-trace-id";

/** The entries that tracing adds to `Server-Timing`. */
const TIMING =
  /(?:^|, *)(?:trace;desc=00-[0-9a-f]{32}-[0-9a-f]{16}-01, )?total;dur=[\d.]+/g;

/** Removes tracing's entries of `Server-Timing`; others stay. */
export function dropTraceTiming(headers: Headers): void {
  const timing = headers.get("server-timing");
  if (timing === null) return;
  const rest = timing.replace(TIMING, "").replace(/^, */, "");
  if (rest === "") headers.delete("server-timing");
  else headers.set("server-timing", rest);
}

/** Removes what tracing has added to a response, if it has. */
export function dropTraceHeaders(headers: Headers): void {
  if (!headers.has(TRACE_ID)) return;
  headers.delete(TRACE_ID);
  dropTraceTiming(headers);
}

/** Gives a response without what tracing has added to it. */
export function withoutTraceHeaders(response: Response): Response {
  if (!response.headers.has(TRACE_ID)) return response;
  try {
    dropTraceHeaders(response.headers);
    return response;
  } catch {
    // The headers of a response from `fetch` are immutable.
    const copy = new Response(response.body, response);
    dropTraceHeaders(copy.headers);
    return copy;
  }
}
