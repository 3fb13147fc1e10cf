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
