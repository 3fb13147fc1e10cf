/**
 * Formats errors of any size for logs and traces. `inspect()` has no limit: it takes
 * a second for a message of 50 MB, and the console another second.
 *
 * @module
 */

import { clip, isLarge } from "./size.ts";
import { redactText } from "./redact.ts";
import { MAX_LOG_TEXT, redactMessage } from "./redact_message.ts";

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
