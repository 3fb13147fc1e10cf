/**
 * Changes the headers of a response. Those of a response from `fetch` are
 * immutable, so then a copy is returned.
 */
export function editHeaders(
  response: Response,
  edit: (headers: Headers) => void,
): Response {
  try {
    edit(response.headers);
    return response;
  } catch {
    const copy = new Response(response.body, response);
    edit(copy.headers);
    return copy;
  }
}
