/**
 * The byte encodings that Node 22 lacks. Only bundled tests use these names:
 * the installed package must work without them.
 *
 * @module
 */

import { Buffer } from "node:buffer";

type Encoding = "hex" | "base64" | "base64url";

interface Base64Options {
  readonly alphabet?: "base64" | "base64url";
  readonly omitPadding?: boolean;
}

function encode(bytes: Uint8Array, encoding: Encoding): string {
  return Buffer.from(bytes).toString(encoding);
}

function decode(text: string, encoding: Encoding): Uint8Array {
  return new Uint8Array(Buffer.from(text, encoding));
}

/** Adds the encodings to the prototypes. */
export function addEncodings(): void {
  Object.assign(Uint8Array.prototype, {
    toHexOfTests(this: Uint8Array) {
      return encode(this, "hex");
    },
    toBase64OfTests(
      this: Uint8Array,
      { alphabet = "base64", omitPadding = false }: Base64Options = {},
    ) {
      const text = encode(this, "base64");
      const right = alphabet === "base64"
        ? text
        : text.replaceAll("+", "-").replaceAll("/", "_");
      return omitPadding ? right.replaceAll("=", "") : right;
    },
  });
  Object.assign(Uint8Array, {
    fromHexOfTests: (text: string) => decode(text, "hex"),
    fromBase64OfTests: (text: string, { alphabet }: Base64Options = {}) =>
      decode(text, alphabet ?? "base64"),
  });
}
