// Reads what a form was filled in with.

import { errorResponse } from "@quartet/kit/app";

/** More than any form here takes, in bytes. */
const LIMIT = 16_384;

/**
 * Reads the fields of a submitted form.
 *
 * @throws {Response} If it is larger than any form here.
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
