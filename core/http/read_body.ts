/**
 * Reads bodies as JSON, text or bytes, up to a limit.
 *
 * @module
 */

import { concatBytes } from "../bytes/bytes.ts";
import { hasHeader } from "./message.ts";

/** The reason that a body couldn't be read. */
export class BodyError extends Error {
  /** Always `BodyError`. */
  override readonly name = "BodyError";
  /** The problem with the body or its connection. */
  readonly problem: "TOO_LARGE" | "NOT_UTF8" | "NOT_JSON" | "CUT_OFF";

  /** Creates an error whose message is safe to send to the client. */
  constructor(
    problem: BodyError["problem"],
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.problem = problem;
  }
}

/** Creates the error for a body that is longer than `limit` bytes. */
export function tooLarge(limit: number): BodyError {
  return new BodyError("TOO_LARGE", `The body must be at most ${limit} bytes`);
}

/**
 * Reads the body of a request as JSON.
 *
 * @param limit Maximum bytes.
 * @throws {BodyError} If it has more, isn't JSON, or was cut off. It throws
 * nothing else.
 */
export async function readBodyJSON(
  request: Request,
  limit: number,
): Promise<unknown> {
  const text = await readBodyText(request, limit);
  try {
    return JSON.parse(text);
  } catch {
    throw new BodyError("NOT_JSON", "The body must be JSON");
  }
}

/**
 * Reads the body of a request as text.
 *
 * @param limit Maximum bytes.
 * @throws {BodyError} If it has more, isn't UTF-8, or was cut off. It throws
 * nothing else.
 */
export async function readBodyText(
  request: Request,
  limit: number,
): Promise<string> {
  return decodeText(await readBodyBytes(request, limit));
}

/**
 * Reads the body of a request.
 *
 * @param limit Maximum bytes.
 * @throws {BodyError} If it has more, or was cut off. It throws nothing else.
 */
export async function readBodyBytes(
  request: Request,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const length = declaredLength(request.headers);
    if (length === undefined) return await readChunks(request, limit);
    if (length > limit) throw tooLarge(limit);
    // Reading a body of known length at once is faster than its stream.
    const bytes = await readBytes(request);
    if (bytes.length > limit) throw tooLarge(limit);
    return bytes;
  } catch (cause) {
    if (cause instanceof BodyError) throw cause;
    const message = "Cannot read the body: it was cut off or read before";
    throw new BodyError("CUT_OFF", message, { cause });
  }
}

/**
 * Returns the length of a body from its header, if known. HTTP/2 requests and
 * requests made by code may lack it. The length of an encoded body doesn't count,
 * because the body may have been decoded.
 */
export function declaredLength(headers: Headers): number | undefined {
  const length = headers.get("content-length");
  // A header that is sent twice arrives as a list.
  const isKnown = length !== null && /^\d+$/.test(length) &&
    !hasHeader(headers, "content-encoding");
  return isKnown ? Number(length) : undefined;
}

/** The requests of Hono's server for Node have no `bytes()`. */
const readBytes: (request: Request) => Promise<Uint8Array<ArrayBuffer>> =
  "Deno" in globalThis
    ? (request) => request.bytes()
    : async (request) => new Uint8Array(await request.arrayBuffer());

const decoder = new TextDecoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns the text of a body, which must be UTF-8, as JSON is (RFC 8259, section
 * 8.1). A decoder that throws takes three times as long, so it only checks texts
 * with U+FFFD.
 *
 * @throws {BodyError} If it isn't UTF-8.
 */
export function decodeText(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  if (!text.includes("\uFFFD")) return text;
  try {
    return strictDecoder.decode(bytes);
  } catch {
    throw new BodyError("NOT_UTF8", "The body must be UTF-8");
  }
}

/**
 * Reads the body of a request or of a response as text, chunk by chunk.
 *
 * @param limit Maximum bytes.
 * @throws {BodyError} If it has more, or isn't UTF-8.
 */
export async function readStream(
  response: Pick<Body, "body">,
  limit: number,
): Promise<string> {
  return decodeText(await readChunks(response, limit));
}

async function readChunks(
  { body }: Pick<Body, "body">,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return concatBytes(chunks);
      size += value.length;
      if (size > limit) throw tooLarge(limit);
      chunks.push(value);
    }
  } catch (error) {
    // Not `for await`, which would wait for the source to be cancelled.
    reader.cancel().catch(() => {});
    throw error;
  }
}
