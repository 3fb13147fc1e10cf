/**
 * Takes out of an error's text what it quotes of a body that is no JSON. A form
 * that was sent to `request.json()` would stand in the log. What else is secret
 * in the text is redacted.
 *
 * ```
 * Unexpected token 'u', "user=ada&p"... is not valid JSON
 *                       └─ quote ──┘ └───── marker ─────┘    V8
 * JSON Parse error: Unexpected identifier "hunter2"          JavaScriptCore
 * ```
 *
 * The body is anybody's text, so it may hold quotation marks and markers of its
 * own: a quote reaches from the first `"` to the last marker.
 *
 * @module
 */

import { clip, clipAt } from "./clip.ts";
import { redactText } from "./redact.ts";

/** Characters of one text that a log or a trace gets. */
export const MAX_LOG_TEXT = 8192;

/**
 * How far the end of a quote is looked for. What goes on for longer is cut at
 * its first `"`.
 */
const MAX_SEARCH = 1024 * 1024;

const MARKER = " is not valid JSON";
const REPLACEMENT = "the text is not valid JSON";
const IDENTIFIER = 'JSON Parse error: Unexpected identifier "';

/**
 * Shortens an error's text, takes the quoted source out of it, and redacts it.
 *
 * @param text Text of any length, of which a bounded part is looked at.
 * @param maxLength Characters to keep, the note of what is missing not counted.
 */
export function withoutSource(text: string, maxLength = MAX_LOG_TEXT): string {
  return redactText(withoutQuote(text, maxLength));
}

function withoutQuote(text: string, maxLength: number): string {
  const open = quoteStart(text.slice(0, maxLength));
  if (open === -1) return clip(text, maxLength);
  const searched = text.slice(0, MAX_SEARCH);
  const end = quoteEnd(searched, open);
  if (searched.length < text.length) {
    return clipAt(text, open, end === -1 ? "" : REPLACEMENT);
  }
  const told = end === -1
    ? text
    : text.slice(0, open) + REPLACEMENT + text.slice(end);
  return clip(withoutIdentifiers(told), maxLength);
}

/** Where the first quote begins, with the dots before it. */
function quoteStart(text: string): number {
  const mark = text.indexOf('"');
  return mark === -1 ? -1 : text.endsWith("...", mark) ? mark - 3 : mark;
}

/** Where the last marker ends that a quote is before. */
function quoteEnd(text: string, open: number): number {
  let at = text.length;
  while ((at = text.lastIndexOf(MARKER, at - 1)) > open) {
    const mark = text.endsWith("...", at) ? at - 4 : at - 1;
    if (mark > open && text[mark] === '"') return at + MARKER.length;
  }
  return -1;
}

/** Takes out identifiers, which a password may be to a parser. */
function withoutIdentifiers(text: string): string {
  let rest = 0;
  let result = "";
  let found: number;
  while ((found = text.indexOf(IDENTIFIER, rest)) !== -1) {
    const start = found + IDENTIFIER.length;
    const end = text.indexOf('"', start);
    result += text.slice(rest, start) + "…";
    rest = end === -1 ? text.length : end;
  }
  return rest === 0 ? text : result + text.slice(rest);
}
