/**
 * Makes an error's text safe to keep: shortens it, removes what a JSON parser
 * quotes of its input, and `Headers` of a value, and redacts the rest. Otherwise
 * a form sent to `request.json()` would appear in the log.
 *
 * ```
 * Unexpected token 'u', "user=ada&p"... is not valid JSON
 *                       └─ quote ──┘ └───── marker ─────┘    V8
 * JSON Parse error: Unexpected identifier "hunter2"          JavaScriptCore
 * ```
 *
 * The input is untrusted, and may contain quotation marks and markers. So a quote
 * reaches from the first `"` to the last marker.
 *
 * @module
 */

import { clip } from "./size.ts";
import { redactText } from "./redact.ts";
import { REDACTED } from "./redact_url.ts";

/** Maximum characters of one text in a log or a trace. */
export const MAX_LOG_TEXT = 8192;

/**
 * Maximum characters to search for the end of a quote. A longer text is cut at
 * its first `"`.
 */
const MAX_SEARCH = 1024 * 1024;

const MARKER = " is not valid JSON";
const REPLACEMENT = "the text is not valid JSON";
const IDENTIFIER = 'JSON Parse error: Unexpected identifier "';

/**
 * A value that can't be a header's, as Deno, Node and Bun quote it. It reaches to
 * the last quotation mark.
 */
const HEADER_VALUE =
  /(Invalid header value: |Headers\.(?:append|set): |Header '[^']{0,64}' has invalid value: )(["'])(?:[^]*\2|[^]*)/;

/**
 * Shortens an error's text, removes quoted input, and redacts the rest.
 *
 * @param text Text of any length. Only a bounded part is searched.
 * @param maxLength Characters to keep, not counting the note about cut text.
 */
export function redactMessage(text: string, maxLength = MAX_LOG_TEXT): string {
  const short = withoutQuote(text, maxLength);
  return redactText(short.replace(HEADER_VALUE, `$1$2${REDACTED}$2`));
}

function withoutQuote(text: string, maxLength: number): string {
  const open = quoteStart(text.slice(0, maxLength));
  if (open === -1) return clip(text, maxLength);
  if (text.length > MAX_SEARCH) return clip(text, open);
  const end = quoteEnd(text, open);
  const rest = end === -1
    ? text
    : text.slice(0, open) + REPLACEMENT + text.slice(end);
  return clip(withoutIdentifiers(rest), maxLength);
}

/** Returns the start of the first quote, including the dots before it. */
function quoteStart(text: string): number {
  const mark = text.indexOf('"');
  return mark === -1 ? -1 : text.endsWith("...", mark) ? mark - 3 : mark;
}

/** Returns the end of the last marker that follows a quote. */
function quoteEnd(text: string, open: number): number {
  let at = text.length;
  while ((at = text.lastIndexOf(MARKER, at - 1)) > open) {
    const mark = text.endsWith("...", at) ? at - 4 : at - 1;
    if (mark > open && text[mark] === '"') return at + MARKER.length;
  }
  return -1;
}

/** Removes identifiers: a parser may take a password for one. */
function withoutIdentifiers(text: string): string {
  const [first, ...parts] = text.split(IDENTIFIER);
  return first + parts.map((part) => {
    const end = part.indexOf('"');
    return `${IDENTIFIER}…${end === -1 ? "" : part.slice(end)}`;
  }).join("");
}
