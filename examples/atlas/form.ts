// Reads submitted forms.

import { errorResponse } from "@quartet/kit/app";

/** The maximum size of a form in bytes. */
const LIMIT = 16_384;

/**
 * Reads the fields of a submitted form.
 *
 * @throws {Response} If the form is too large.
 */
export async function readForm(
  request: Request,
): Promise<Partial<Record<string, string>>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > LIMIT) {
      throw errorResponse(413, "PAYLOAD_TOO_LARGE", "The form is too large");
    }
    chunks.push(chunk);
  }
  const text = await new Blob(chunks).text();
  return Object.fromEntries(new URLSearchParams(text));
}
