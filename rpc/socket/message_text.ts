/**
 * Reads the text of a socket message. Servers pass it as a string or as bytes:
 * `ws` passes each text frame as a `Buffer`.
 *
 * @module
 */

import { bytesOf, concatBytes } from "../../core/bytes/bytes.ts";
import { RPCError } from "../error.ts";
import { describe, parseError } from "../server/read_message.ts";

/**
 * A client's message: its text, or the text's bytes in UTF-8. A list contains
 * fragments in order, as `ws` passes them with `binaryType: "fragments"`.
 */
export type SocketMessage =
  | string
  | ArrayBufferLike
  | ArrayBufferView
  | readonly (ArrayBufferLike | ArrayBufferView)[];

/**
 * Returns the text of a message, without a byte order mark (RFC 8259, section
 * 8.1).
 *
 * @param limit Maximum bytes.
 * @throws {RPCError} `PAYLOAD_TOO_LARGE` if it is larger, `PARSE_ERROR` if it
 * isn't text in UTF-8.
 */
export function readText(message: unknown, limit: number): string {
  if (typeof message === "string") {
    if (isLonger(message, limit)) throw tooLarge(limit);
    return message.startsWith("\ufeff") ? message.slice(1) : message;
  }
  const chunks = chunksOf(message);
  if (chunks === undefined) {
    throw parseError(
      `Messages must be text or its bytes, received ${describe(message)}`,
    );
  }
  if (sizeOf(chunks) > limit) throw tooLarge(limit);
  try {
    return decoder.decode(joined(chunks));
  } catch {
    throw parseError("The message must be UTF-8");
  }
}

/**
 * Returns the start of an unreadable message.
 *
 * @param count How many UTF-16 code units or bytes to take.
 */
export function textAtStart(message: unknown, count: number): string {
  if (typeof message === "string") return message.slice(0, count);
  // A message may be far beyond the limit, so the rest isn't copied.
  const starts = chunksOf(message)?.map((chunk) => chunk.subarray(0, count));
  return lenientDecoder.decode(joined(starts ?? []).subarray(0, count));
}

/** Returns the length of a message: bytes, or UTF-16 code units of a string. */
export function lengthOf(message: unknown): number {
  return typeof message === "string"
    ? message.length
    : sizeOf(chunksOf(message) ?? []);
}

const decoder = new TextDecoder("utf-8", { fatal: true });
const lenientDecoder = new TextDecoder();
const encoder = new TextEncoder();

/** Whether a text has more than `limit` bytes. Short texts aren't encoded. */
function isLonger(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  return text.length * 3 > limit && encoder.encode(text).length > limit;
}

function tooLarge(limit: number): RPCError {
  return new RPCError(
    "PAYLOAD_TOO_LARGE",
    `The message must be at most ${limit} bytes`,
    413,
  );
}

function chunksOf(message: unknown): readonly Uint8Array[] | undefined {
  const parts: unknown[] = Array.isArray(message) ? message : [message];
  const chunks = Array.from(parts, bytesOf);
  return chunks.every((chunk) => chunk !== undefined) ? chunks : undefined;
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((size, { byteLength }) => size + byteLength, 0);
}

/** Returns bytes in one piece that no other thread changes. */
function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return chunks.length === 1 && first!.buffer instanceof ArrayBuffer
    ? first!
    : concatBytes(chunks);
}
