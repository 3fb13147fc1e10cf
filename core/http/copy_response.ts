/**
 * Copies a response. Its headers can be changed.
 *
 * On Bun, a text gets its type when it is sent, and a copy of it would have
 * none. Browsers would guess the type, and may run such a text as HTML.
 *
 * @param body The body of the copy. Default: the body of the response.
 */
export function copyResponse(
  response: Response,
  body?: ReadableStream<Uint8Array<ArrayBuffer>>,
): Response {
  // First: on Bun, reading the body removes a type that wasn't read before.
  const isUntyped = "Bun" in globalThis &&
    !response.headers.has("content-type");
  const copy = new Response(body ?? response.body, response);
  if (isUntyped && copy.body !== null) {
    copy.headers.set("content-type", "text/plain;charset=UTF-8");
  }
  return copy;
}
