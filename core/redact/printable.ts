/**
 * Makes untrusted text and errors safe to print. Terminals obey control characters,
 * and errors may be huge, quote their input, or hold secrets.
 *
 * ```
 * printableError(error)    the error itself, if inspect() finds nothing to change
 *   └─ errorText()         else its stack, causes and errors     error_text.ts
 *        └─ redactMessage()  short, without quoted input         redact_message.ts
 *             ├─ clip()                                          clip.ts
 *             └─ redactText()  without secrets                   redact.ts
 * printable(text)          one line: clipped, controls escaped
 * ```
 *
 * Texts are cut before anything searches them, so a long text takes no more time
 * than a short one.
 *
 * @module
 */

import { nodeUtil } from "../runtime/node_builtins.ts";
import { clip, isLarge } from "./size.ts";
import { errorText } from "./error_text.ts";
import { MAX_LOG_TEXT, redactMessage } from "./redact_message.ts";

/**
 * C0 and C1 controls, and characters that change the direction of text or are
 * invisible. All of them can make a terminal show something else.
 */
const UNSAFE = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * Makes recorded text safe to print: one line, no control characters, and at
 * most 8,192 characters.
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
 * Returns what to pass to the console for a thrown value: the value itself, or
 * safe text if it is large, quotes its input, holds secrets, or has control
 * characters or lines that look like log entries.
 */
export function printableError(error: unknown): unknown {
  try {
    if (typeof error === "string") return indented(redactMessage(error));
    const text = isLarge(error)
      ? undefined
      : nodeUtil().inspect(error, { depth: DEPTH });
    if (text === undefined || text.length > MAX_ERROR_TEXT) {
      return indented(errorText(error));
    }
    const redacted = redactMessage(text, MAX_ERROR_TEXT);
    if (redacted !== text) {
      return indented(error instanceof Error ? errorText(error) : redacted);
    }
    const isSafe = text.split("\n").every((line, index) =>
      line === printable(line) && (index === 0 || /^[ }\]]/.test(line))
    );
    return isSafe ? error : indented(text);
  } catch {
    return "an error that can't be printed";
  }
}

/** Indents lines, so that none looks like another log entry. */
function indented(text: string): string {
  return text.split("\n").map(printable).join("\n  ");
}
