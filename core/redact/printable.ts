/**
 * Makes what came from outside safe to print: a terminal obeys control
 * characters, in any part of a text. Text is cut before it is checked, so
 * that a long text takes no more time than a short one.
 *
 * @module
 */

import { inspect } from "node:util";
import { clip } from "./clip.ts";
import { errorText } from "./error_text.ts";
import { isLarge } from "./is_large.ts";
import { MAX_LOG_TEXT, withoutSource } from "./without_source.ts";

/**
 * C0 and C1 controls, and characters that turn the direction of text or are
 * not seen: all of them can make a terminal show what isn't there.
 */
const UNSAFE =
  // deno-lint-ignore no-control-regex -- finding them is the point
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Makes recorded text safe to print: one line, no control characters, and not
 * more than 8,192 characters.
 */
export function printable(text: string): string {
  return clip(text, MAX_LOG_TEXT).toWellFormed().replace(UNSAFE, escape);
}

function escape(character: string): string {
  if (character === "\n") return "⏎";
  const code = character.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code}`;
}

/** Maximum characters of an error in the log, also from its own `inspect()`. */
const MAX_ERROR_TEXT = 8 * MAX_LOG_TEXT;

/** Levels of an error that are checked: more than any console shows. */
const DEPTH = 10;

/**
 * Gives what to hand to the console for whatever was thrown: the error itself,
 * or its text made safe where it is long, quotes its input, holds secrets, or
 * has control characters or lines that would pass for the log's own.
 */
export function printableError(error: unknown): unknown {
  try {
    if (typeof error === "string") return isolated(withoutSource(error));
    const text = isLarge(error) ? undefined : inspect(error, { depth: DEPTH });
    if (text === undefined || text.length > MAX_ERROR_TEXT) {
      return isolated(errorText(error));
    }
    const told = withoutSource(text, MAX_ERROR_TEXT);
    if (told !== text) {
      return isolated(error instanceof Error ? errorText(error) : told);
    }
    const isSafe = text.split("\n").every((line, index) =>
      line === printable(line) && (index === 0 || /^[ }\]]/.test(line))
    );
    return isSafe ? error : isolated(text);
  } catch {
    return "an error that can't be printed";
  }
}

/** Indents lines, so that none looks like another log entry. */
function isolated(text: string): string {
  return text.split("\n").map(printable).join("\n  ");
}
