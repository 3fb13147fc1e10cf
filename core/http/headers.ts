/**
 * Reads and changes headers.
 *
 * @module
 */

import { copyResponse } from "./response.ts";

/**
 * Whether a request has a header. On Deno, `headers.has()` copies all headers of
 * a request first, and the copy lives as long as the request. `get()` doesn't.
 */
export function hasHeader(headers: Headers, name: string): boolean {
  return headers.get(name) !== null;
}

/**
 * Changes the headers of a response. Returns a copy if they are immutable, as in a
 * response from `fetch`.
 */
export function editHeaders(
  response: Response,
  edit: (headers: Headers) => void,
): Response {
  try {
    edit(response.headers);
    return response;
  } catch {
    const copy = copyResponse(response);
    edit(copy.headers);
    return copy;
  }
}

/** The header with the trace's id. */
export const TRACE_ID = "x-app-trace-id";

/** The entries that tracing adds to `Server-Timing`. */
const TIMING =
  /(?:^|, *)(?:trace;desc=00-[0-9a-f]{32}-[0-9a-f]{16}-01, )?total;dur=[\d.]+/g;

/** Removes tracing's entries from `Server-Timing`, and keeps the others. */
export function dropTraceTiming(headers: Headers): void {
  const timing = headers.get("server-timing");
  if (timing === null) return;
  const rest = timing.replace(TIMING, "").replace(/^, */, "");
  if (rest === "") headers.delete("server-timing");
  else headers.set("server-timing", rest);
}

/** Removes the headers that tracing has added. */
export function dropTraceHeaders(headers: Headers): void {
  if (!headers.has(TRACE_ID)) return;
  headers.delete(TRACE_ID);
  dropTraceTiming(headers);
}

/** Returns a response without the headers that tracing has added. */
export function withoutTraceHeaders(response: Response): Response {
  if (!response.headers.has(TRACE_ID)) return response;
  return editHeaders(response, dropTraceHeaders);
}
