/**
 * Reads a request's body as text, at most `limit` bytes of it.
 *
 * @returns The text, or `undefined` if the body is larger.
 */
export async function readBody(
  request: Request,
  limit: number,
): Promise<string | undefined> {
  if (request.body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
