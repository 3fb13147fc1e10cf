import { copyResponse } from "./copy_response.ts";

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
