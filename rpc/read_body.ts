import { RPCError } from "./error.ts";

/**
 * Reads the body of a request as text, never more than `limit` bytes of it.
 *
 * @throws {RPCError} `PAYLOAD_TOO_LARGE`, or `PARSE_ERROR` if it is not UTF-8
 * or ends too early.
 */
export async function readBody(
  request: Request,
  limit: number,
): Promise<string> {
  const { headers } = request;
  const length = headers.get("content-length");
  if (length === null && isFromNetwork(headers)) {
    return await readStream(request, limit);
  }
  if (Number(length) > limit) throw tooLarge(limit);
  try {
    return length === null
      ? checkLength(await request.text(), limit)
      : decode(await request.bytes(), limit);
  } catch (error) {
    throw error instanceof RPCError ? error : cutOff(error);
  }
}

/**
 * A body that says nothing of its length may be a stream without an end. One
 * that a program has just made, as a test does, is in memory already, and
 * reading that as a stream would take as long as the rest of the call. Only
 * headers off the network are immutable (Fetch, "Headers guard"); asking for
 * `transfer-encoding` is not enough, because HTTP/2 has none.
 */
function isFromNetwork(headers: Headers): boolean {
  if (headers.has("transfer-encoding")) return true;
  try {
    headers.delete("x-no-such-header");
    return false;
  } catch {
    return true;
  }
}

const encoder = new TextEncoder();

function checkLength(text: string, limit: number): string {
  if (text.length > limit) throw tooLarge(limit);
  if (text.length * 3 > limit && encoder.encode(text).length > limit) {
    throw tooLarge(limit);
  }
  return text;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * `text()` puts U+FFFD where bytes aren't UTF-8. RFC 8259, section 8.1, wants
 * UTF-8, and a name that comes in with a hole in it should not be stored so.
 */
function decode(bytes: Uint8Array, limit: number): string {
  if (bytes.length > limit) throw tooLarge(limit);
  try {
    return decoder.decode(bytes);
  } catch {
    throw notUTF8();
  }
}

async function readStream(request: Request, limit: number): Promise<string> {
  if (request.body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = request.body.getReader();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(cutOff);
    try {
      if (done) return text + decoder.decode();
      size += value.length;
      if (size <= limit) text += decoder.decode(value, { stream: true });
    } catch {
      reader.cancel().catch(() => {});
      throw notUTF8();
    }
    if (size > limit) {
      reader.cancel().catch(() => {});
      throw tooLarge(limit);
    }
  }
}

/** What failed is the connection, or the body was read before. */
function cutOff(cause: unknown): never {
  throw new RPCError(
    "PARSE_ERROR",
    "Cannot read the body: it was cut off or read before",
    400,
    { cause },
  );
}

function tooLarge(limit: number): RPCError {
  return new RPCError(
    "PAYLOAD_TOO_LARGE",
    `The body is longer than ${limit} bytes`,
    413,
  );
}

function notUTF8(): RPCError {
  return new RPCError("PARSE_ERROR", "Cannot read the body: it must be UTF-8");
}
