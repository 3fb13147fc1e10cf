/**
 * Texts that were valid before they were changed. They reach deep into parsers.
 *
 * @module
 */

import * as fc from "fast-check";

/** A change to a text. Its position is a fraction of the text's length. */
export interface Edit {
  readonly at: number;
  readonly kind: "insert" | "replace" | "delete" | "repeat" | "cut" | "flip";
  /** Number of characters to remove or copy. */
  readonly length: number;
  /** The text to insert. */
  readonly text: string;
}

/** Tokens that are hard to parse. */
const TOKENS = [
  "__proto__",
  "constructor",
  "prototype",
  "null",
  "undefined",
  "NaN",
  "1e999",
  "-0",
  "-1",
  "9007199254740993",
  "\u0000",
  "\ud800",
  "\udfff",
  "\ufeff",
  "\u2028",
  "é",
  "💥",
  "%",
  "%00",
  "%2f",
  "%zz",
  "..",
  "/../",
  "//",
  "\\",
  '"',
  "'",
  "{",
  "}",
  "[",
  "]",
  "[".repeat(2_000),
  ":",
  ";",
  ",",
  ".",
  "=",
  "&",
  "?",
  "#",
  " ",
  "\t",
  "\r\n",
  "<",
  "</script>",
  "A".repeat(5_000),
];

/** A text, or a token that is hard to parse. */
export const piece: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...TOKENS),
  fc.string({ unit: "binary", maxLength: 20 }),
);

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  kind: fc.constantFrom(
    "insert",
    "replace",
    "delete",
    "repeat",
    "cut",
    "flip",
  ),
  length: fc.nat(40),
  text: piece,
});

export const edits: fc.Arbitrary<Edit[]> = fc.array(edit, {
  minLength: 1,
  maxLength: 4,
});

/** A text that may have been changed. */
export function mutated(valid: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const changes = fc.oneof(
    { arbitrary: fc.constant([]), weight: 2 },
    { arbitrary: edits, weight: 1 },
  );
  return fc.tuple(valid, changes)
    .map(([text, changes]) => applyEdits(text, changes));
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits.reduce(apply, text);
}

function apply(text: string, { at, kind, length, text: put }: Edit): string {
  const start = Math.floor(at * text.length);
  const end = start + length;
  const [before, middle, after] = [
    text.slice(0, start),
    text.slice(start, end),
    text.slice(end),
  ];
  switch (kind) {
    case "insert":
      return before + put + middle + after;
    case "replace":
      return before + put + after;
    case "delete":
      return before + after;
    case "repeat":
      return before + middle + middle + after;
    case "cut":
      return before;
    case "flip": {
      const code = text.charCodeAt(start);
      if (Number.isNaN(code)) return text;
      const flipped = String.fromCharCode(code ^ 1 << length % 8);
      return before + flipped + text.slice(start + 1);
    }
  }
}
