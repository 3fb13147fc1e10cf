/**
 * Reads the bodies of requests, never much more of one than a limit.
 *
 * @module
 */

/** Why a body could not be read. */
export class BodyError extends Error {
  /** Always `BodyError`. */
  override readonly name = "BodyError";
  /** What was wrong with the body, or with its connection. */
  readonly problem: "TOO_LARGE" | "NOT_UTF8" | "CUT_OFF";

  /** Makes an error whose message is fit for the client. */
  constructor(
    problem: BodyError["problem"],
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.problem = problem;
  }
}

/**
 * Reads the body of a request as text.
 *
 * @param limit How many bytes it may have.
 * @throws {BodyError} If it has more, is not UTF-8, or was cut off.
 */
export async function readBodyText(
  request: Request,
  limit: number,
): Promise<string> {
  try {
    return readText(await readBody(request, limit), limit);
  } catch (error) {
    throw toBodyError(error);
  }
}

/** A body that was read: text, or bytes of which nobody has looked at one. */
export type RawBody = string | Uint8Array;

/**
 * The first half of {@linkcode readBodyText}, for those to whom one async
 * function more, 0.1 µs, is too much: they wait themselves, call
 * {@linkcode readText}, and make of errors what {@linkcode toBodyError} does.
 *
 * To read all at once is quicker than to read a stream, and only done where a
 * header says how long it is.
 */
export function readBody(request: Request, limit: number): Promise<RawBody> {
  const length = declaredLength(request.headers);
  if (length === undefined) return readStream(request, limit);
  if (length > limit) throw tooLarge(limit);
  return readBytes(request);
}

/**
 * Returns the length of a body, if a header states it.
 *
 * HTTP/2 requests and requests made by code need no such header. The length of
 * an encoded body doesn't count, because it may have been decoded.
 */
export function declaredLength(headers: Headers): number | undefined {
  const length = headers.get("content-length");
  // A length that is sent twice comes as a list of two.
  const isKnown = length !== null && /^\d+$/.test(length) &&
    !headers.has("content-encoding");
  return isKnown ? Number(length) : undefined;
}

/** The requests of Hono's server for Node have no `bytes()`. */
const readBytes: (request: Request) => Promise<Uint8Array> =
  "Deno" in globalThis
    ? (request) => request.bytes()
    : async (request) => new Uint8Array(await request.arrayBuffer());

/** The second half: the text of a body that was read. */
export function readText(body: RawBody, limit: number): string {
  return typeof body === "string" ? body : decode(body, limit);
}

const decoder = new TextDecoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true });

/**
 * RFC 8259, section 8.1, wants UTF-8, and a name that comes in with a hole in
 * it should not be stored so. A decoder that throws takes three times as long
 * as one that puts U+FFFD there, so only what has one is decoded again.
 */
function decode(bytes: Uint8Array, limit: number): string {
  if (bytes.length > limit) throw tooLarge(limit);
  const text = decoder.decode(bytes);
  if (!text.includes("\uFFFD")) return text;
  try {
    return strictDecoder.decode(bytes);
  } catch {
    throw notUTF8();
  }
}

/**
 * Reads the body of a request or of a response as text, as it comes.
 *
 * @param limit How many bytes it may have.
 * @throws {BodyError} If it has more, or is not UTF-8.
 */
export async function readStream(
  { body }: Pick<Body, "body">,
  limit: number,
): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = body.getReader();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
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

/** What fails otherwise is the connection, or a body that was read before. */
export function toBodyError(cause: unknown): BodyError {
  if (cause instanceof BodyError) return cause;
  const message = "Cannot read the body: it was cut off or read before";
  return new BodyError("CUT_OFF", message, { cause });
}

/** Creates the error for a body that is longer than `limit` bytes. */
export function tooLarge(limit: number): BodyError {
  return new BodyError("TOO_LARGE", `The body must be at most ${limit} bytes`);
}

function notUTF8(): BodyError {
  return new BodyError("NOT_UTF8", "Cannot read the body: it must be UTF-8");
}
