/**
 * The text of errors of any size. `inspect()` has no limit for it: one with a
 * message of 50 MB takes it a second, and the console another one.
 *
 * @module
 */

import { clip } from "./clip.ts";
import { isLarge } from "./is_large.ts";
import { redactText } from "./redact.ts";
import { MAX_LOG_TEXT, withoutSource } from "./without_source.ts";

/** How many causes are followed; a ring of them has no end. */
const MAX_CAUSES = 5;
/** How many errors of an `AggregateError` are told. */
const MAX_ERRORS = 5;
/** How many own properties are told, and characters of each. */
const MAX_PROPERTIES = 10;
const MAX_PROPERTY = 200;

/** Begins the frames of a stack. */
const FRAMES = "\n    at ";

/**
 * A stack whose message is cut to half of what is kept, if it is long, so that
 * its frames are still there.
 *
 * @param maxLength Characters to keep, the notes of what is missing not counted.
 */
export function stackText(
  error: Error,
  maxLength = MAX_LOG_TEXT,
): string | undefined {
  const { stack } = error;
  if (typeof stack !== "string") return undefined;
  const { message } = error;
  const length = typeof message === "string" ? message.length : 0;
  const at = stack.indexOf(FRAMES, length);
  // A message that was set later isn't the one that the stack begins with.
  const isSplit = at !== -1 && stack.slice(at - length, at) === message;
  if (!isSplit) return withoutSource(stack, maxLength);
  const head = withoutSource(stack.slice(0, at), maxLength / 2);
  return head + redactText(clip(stack.slice(at), maxLength - head.length));
}

/** A thrown value that is no error, in a text that has an end. */
export function thrownText(value: unknown, maxLength = MAX_LOG_TEXT): string {
  if (typeof value !== "string" && isLarge(value)) {
    return `${Object.prototype.toString.call(value)}, too large to be shown`;
  }
  return withoutSource(String(value), maxLength);
}

/** The error with what caused it, and what it is an aggregate of. */
export function errorText(error: unknown): string {
  const texts: string[] = [];
  let cause = error;
  while (cause instanceof Error && texts.length <= MAX_CAUSES) {
    texts.push(ownText(cause) + aggregateText(cause));
    cause = cause.cause;
  }
  if (texts.length === 0 || (cause !== undefined && !isError(cause))) {
    texts.push(thrownText(cause));
  } else if (cause !== undefined) texts.push("… more causes");
  // Also by the names of own properties, which their values alone don't have.
  return redactText(texts.join("\nCaused by: "));
}

function isError(value: unknown): value is Error {
  return value instanceof Error;
}

function ownText(error: Error): string {
  const stack = stackText(error) ??
    withoutSource(`${error.name}: ${error.message}`);
  const own = ownProperties(error);
  return own === "" ? stack : `${stack} { ${own} }`;
}

/** What says more than the message, such as `code: "ENOENT"`. */
function ownProperties(error: Error): string {
  const told: string[] = [];
  for (const key of Object.keys(error)) {
    if (told.length === MAX_PROPERTIES) break;
    const { value } = Object.getOwnPropertyDescriptor(error, key)!;
    const isText = typeof value === "string";
    if (!isText && typeof value !== "number" && typeof value !== "boolean") {
      continue;
    }
    const text = isText
      ? JSON.stringify(withoutSource(value, MAX_PROPERTY))
      : value;
    told.push(`${clip(key, MAX_PROPERTY)}: ${text}`);
  }
  return told.join(", ");
}

function aggregateText(error: Error): string {
  const { errors } = error as { errors?: unknown };
  if (!Array.isArray(errors)) return "";
  const texts = errors.slice(0, MAX_ERRORS).map((each) =>
    isError(each) ? ownText(each) : thrownText(each)
  );
  const rest = errors.length - texts.length;
  if (rest > 0) texts.push(`… ${rest} more errors`);
  return texts.map((text) => `\nOne of its errors: ${text}`).join("");
}
