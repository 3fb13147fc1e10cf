/**
 * Explains in words why a call was refused, for its span. Texts that may quote the
 * caller's input are only recorded under the dev command, without its values.
 *
 * @module
 */

import { clip } from "../../core/redact/size.ts";
import { redactText } from "../../core/redact/redact.ts";
import { isDevCommand } from "../../core/runtime/environment.ts";
import type { RPCError } from "../error.ts";
import { firstIssue, type ValidationDetails } from "../procedure/validate.ts";

/** Maximum characters of a message. */
const MAX_TEXT = 300;
/** Maximum characters of a validator's message to search. */
const MAX_MESSAGE = 4_000;
/** Maximum values of an input. Of a larger one, only the field is recorded. */
const MAX_VALUES = 200;
/** Values of this length or more are removed from words too. */
const LONG = 4;

/** Returns why a call was refused with an error. */
export function refusalReason(
  { code, message, headers }:
    & Pick<RPCError, "code" | "message">
    & Partial<Pick<RPCError, "headers">>,
): string {
  const seconds = headers?.["retry-after"];
  if (code === "RATE_LIMITED" && seconds !== undefined) {
    return `refused: too many calls, the next is allowed in ${seconds} s`;
  }
  const text = isDevCommand() ? redactText(clip(message, MAX_TEXT)) : "";
  return `refused: ${text || code}`;
}

/** Returns which field of an input is invalid, and why. */
export function invalidReason(
  details: ValidationDetails,
  input: unknown,
): string {
  if ("message" in details) return "refused: the input is invalid";
  const [issue, ...others] = details;
  const values = isDevCommand() ? valuesOf(input) : undefined;
  if (values !== undefined && issue !== undefined) {
    const message = withoutValues(clip(issue.message, MAX_MESSAGE), values);
    const reason = firstIssue([{ ...issue, message }, ...others]);
    return `refused: ${redactText(reason)}`;
  }
  const field = issue?.path?.join(".") || "the input";
  return `refused: ${clip(field, MAX_TEXT)} is invalid`;
}

/** Removes the values of an input from a text: validators may quote them. */
function withoutValues(text: string, values: readonly string[]): string {
  let result = text;
  for (const value of values.toSorted((a, b) => b.length - a.length)) {
    if (value.length >= LONG) result = result.replaceAll(value, "…");
  }
  const short = new Set(values);
  return result.split(/([^\p{L}\p{N}]+)/u)
    .map((word) => short.has(word) ? "…" : word).join("");
}

/** Returns the strings and numbers in a value. `undefined` if it is too large. */
function valuesOf(input: unknown): string[] | undefined {
  const values: string[] = [];
  const queue: unknown[] = [input];
  // The loop also visits elements that it adds.
  for (const value of queue) {
    if (typeof value === "string" || typeof value === "number") {
      if (value !== "") values.push(String(value));
    } else if (typeof value === "object" && value !== null) {
      const parts = Object.values(value);
      if (queue.length + parts.length > MAX_VALUES) return undefined;
      queue.push(...parts);
    }
  }
  return values;
}
