/**
 * Ids as bytes and back: hexadecimal text takes two bytes for each byte of an
 * id, and an id's bytes are random, so no compressor gets them back.
 *
 * @module
 */

const DIGITS = Array.from(
  { length: 256 },
  (_, byte) => byte.toString(16).padStart(2, "0"),
);

/** Whether `text` is exactly `bytes` bytes as lower-case hexadecimal digits. */
export function isHex(text: string, bytes: number): boolean {
  return text.length === bytes * 2 && /^[0-9a-f]+$/.test(text);
}

/** The bytes from `start` to `end` as lower-case hexadecimal digits. */
export function hexOf(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i++) text += DIGITS[bytes[i] ?? 0];
  return text;
}
