/**
 * Makes what came from outside safe to print: a terminal obeys control
 * characters, wherever they stand in a text.
 *
 * @module
 */

import { inspect } from "node:util";

/**
 * C0 and C1 controls, and characters that turn the direction of text or are
 * not seen: all of them can make a terminal show what isn't there.
 */
const UNSAFE =
  // deno-lint-ignore no-control-regex -- finding them is the point
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** What V8 quotes of a text that is no JSON, which may be anybody's password. */
const QUOTED_SOURCE = /(?:\.{3})?"[^]*?"(?:\.{3})? is not valid JSON/g;

/**
 * An error's text without what it quotes of a body that is no JSON. A form that
 * was sent to `request.json()` would stand in the log.
 */
export function withoutSource(text: string): string {
  return text.includes(" is not valid JSON")
    ? text.replace(QUOTED_SOURCE, "the text is not valid JSON")
    : text;
}

/** Makes recorded text safe to print: one line, and no control characters. */
export function printable(text: string): string {
  return text.toWellFormed().replace(UNSAFE, escape);
}

function escape(character: string): string {
  if (character === "\n") return "⏎";
  const code = character.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code}`;
}

/**
 * Gives what to hand to the console for whatever was thrown: the error itself,
 * or its text made safe where a message has control characters in it, or lines
 * that would pass for the log's own.
 */
export function printableError(error: unknown): unknown {
  let text: string;
  try {
    text = typeof error === "string" ? error : inspect(error);
  } catch {
    return "an error that can't be printed";
  }
  const told = withoutSource(text);
  const lines = told.split("\n");
  const isSafe = told === text &&
    lines.every((line, index) =>
      line === printable(line) && (index === 0 || /^[ }\]]/.test(line))
    );
  return isSafe ? error : lines.map(printable).join("\n  ");
}
