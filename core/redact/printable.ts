/**
 * Makes untrusted text and errors safe to print. Terminals obey control characters,
 * and errors may be huge, quote their input, or hold secrets.
 *
 * ```
 * printableError(error)    the error itself, if inspect() finds nothing to change
 *   └─ errorText()         else its stack, causes and errors
 *        └─ redactMessage()  short, without quoted input         redact.ts
 *             ├─ clip()                                          size.ts
 *             └─ redactText()  without secrets                   redact.ts
 * printable(text)          one line: clipped, controls escaped
 * ```
 *
 * Texts are cut before anything searches them, so a long text takes no more time
 * than a short one. `inspect()` has no limit: it takes a second for a message of
 * 50 MB, and the console another second.
 *
 * @module
 */

import { isThenable } from "../promises.ts";
import { nodeUtil } from "../runtime/environment.ts";
import {
  clip,
  isLarge,
  MAX_LOG_TEXT,
  redactMessage,
  redactText,
} from "./redact.ts";

/** Maximum causes to follow, because causes can form a cycle. */
const MAX_CAUSES = 5;
/** Maximum errors of an `AggregateError` to show. */
const MAX_ERRORS = 5;
/** Maximum own properties to show, and characters of each. */
const MAX_PROPERTIES = 10;
const MAX_PROPERTY = 200;

/** Separates a stack's message from its frames. */
const FRAMES = "\n    at ";

/**
 * Returns an error's stack. A long message is cut to half of `maxLength`, so
 * that frames remain.
 *
 * @param maxLength Characters to keep, not counting notes about cut text.
 */
export function stackText(
  error: Error,
  maxLength = MAX_LOG_TEXT,
): string | undefined {
  const { stack, message } = error;
  if (typeof stack !== "string") return undefined;
  const length = typeof message === "string" ? message.length : 0;
  const at = stack.indexOf(FRAMES, length);
  // The stack doesn't contain a message that was set later.
  const isSplit = at !== -1 && stack.slice(at - length, at) === message;
  if (!isSplit) return redactMessage(stack, maxLength);
  const head = redactMessage(stack.slice(0, at), maxLength / 2);
  return head + redactText(clip(stack.slice(at), maxLength - head.length));
}

/** Returns a thrown value that isn't an `Error` as text of bounded length. */
export function thrownText(value: unknown, maxLength = MAX_LOG_TEXT): string {
  if (typeof value !== "string" && isLarge(value)) {
    return `${Object.prototype.toString.call(value)}, too large to be shown`;
  }
  const text = String(value);
  const { message } = Object(value) as { readonly message?: unknown };
  // Clients of databases throw objects such as `{ code, message }`.
  const isNamed = text === "[object Object]" && typeof message === "string";
  return redactMessage(isNamed ? message : text, maxLength);
}

/** Returns the text of an error, its causes and its aggregated errors. */
export function errorText(error: unknown): string {
  const text = textWithCauses(
    error,
    (each) => ownText(each) + aggregateText(each, ownText),
  );
  // Values were redacted without their property names, which may mark secrets.
  return redactText(text);
}

/** Returns the text of one error, or `undefined` to leave it out. */
type TextOf = (error: Error) => string | undefined;

/**
 * Joins the texts of a thrown value and of its causes.
 *
 * @param maxLength Characters of a cause that isn't an `Error`.
 */
export function textWithCauses(
  error: unknown,
  textOf: TextOf,
  maxLength = MAX_LOG_TEXT,
): string {
  const texts: (string | undefined)[] = [];
  let cause = error;
  while (cause instanceof Error && texts.length <= MAX_CAUSES) {
    texts.push(textOf(cause));
    cause = cause.cause;
  }
  if (cause instanceof Error) texts.push("… more causes");
  else if (cause !== undefined || texts.length === 0) {
    texts.push(thrownText(cause, maxLength));
  }
  return texts.filter((text) => text !== undefined).join("\nCaused by: ");
}

function ownText(error: Error): string {
  const stack = stackText(error) ??
    redactMessage(`${error.name}: ${error.message}`);
  const own = ownProperties(error);
  return own === "" ? stack : `${stack} { ${own} }`;
}

/** Returns the own properties as text, such as `code: "ENOENT"`. */
function ownProperties(error: Error): string {
  const shown: string[] = [];
  for (const key of Object.keys(error)) {
    if (shown.length === MAX_PROPERTIES) break;
    const { value } = Object.getOwnPropertyDescriptor(error, key)!;
    if (typeof value === "string") {
      const text = redactMessage(value, MAX_PROPERTY);
      shown.push(`${clip(key, MAX_PROPERTY)}: ${JSON.stringify(text)}`);
    } else if (typeof value === "number" || typeof value === "boolean") {
      shown.push(`${clip(key, MAX_PROPERTY)}: ${value}`);
    }
  }
  return shown.join(", ");
}

/** Returns the texts of aggregated errors, each on its own line. */
export function aggregateText(error: Error, textOf: TextOf): string {
  const { errors } = error as { errors?: unknown };
  if (!Array.isArray(errors)) return "";
  const texts = errors.slice(0, MAX_ERRORS).map((each) =>
    each instanceof Error ? textOf(each) : thrownText(each)
  );
  const rest = errors.length - texts.length;
  if (rest > 0) texts.push(`… ${rest} more errors`);
  return texts.map((text) => `\nOne of its errors: ${text}`).join("");
}

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

/**
 * Calls an application's `onError`. If it throws or rejects, prints that error, so
 * that a failing log neither fails a request nor ends the process. Doesn't wait
 * for a returned promise.
 *
 * @param onError The application's function.
 * @param args Its arguments.
 */
export function reportError<Args extends readonly unknown[]>(
  onError: (...args: Args) => unknown,
  ...args: Args
): void {
  try {
    const result = onError(...args);
    if (isThenable(result)) Promise.resolve(result).catch(printFailure);
  } catch (failure) {
    printFailure(failure);
  }
}

/** The default of `onError`: prints an error that is safe to show. */
export function logMessage({ message }: Error): void {
  console.error(message);
}

function printFailure(failure: unknown): void {
  console.error("onError failed:", printableError(failure));
}
