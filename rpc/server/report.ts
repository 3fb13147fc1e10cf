/**
 * Reports errors of procedures: to the caller, to the log, and as the reason of a
 * refusal on the call's span.
 *
 * Texts that may quote the caller's input are only recorded under the dev command,
 * without its values.
 *
 * @module
 */

import { isA } from "../../core/check/rules.ts";
import { isClientError, UnavailableError } from "../../core/error_response.ts";
import { isResponse } from "../../core/http/message.ts";
import { printableError, reportError } from "../../core/redact/printable.ts";
import { clip, redactText } from "../../core/redact/redact.ts";
import { isDevCommand } from "../../core/runtime/environment.ts";
import { aFailureStatus, errors, RPCError } from "../error.ts";
import type { CallInfo } from "../procedure/procedure.ts";
import { firstIssue, type ValidationDetails } from "../procedure/validate.ts";
import type { Call } from "./call.ts";

/** Called with an error of a procedure, and its call. Nothing waits for it. */
export type ErrorReport = (error: unknown, call: CallInfo<unknown>) => void;

/** Maps any thrown value to an error that is safe to send. */
export type Reporter = (error: unknown, call: Call) => RPCError;

/**
 * Creates the reporter of a router. It passes errors that aren't meant for the
 * caller to `onError`, once.
 */
export function createReporter(onError: ErrorReport = logError): Reporter {
  return (error, call) => {
    // Code may have set a status that no response can have.
    const status = isA(error, RPCError) ? error.status : undefined;
    if (aFailureStatus.test(status)) return error as RPCError;
    if (isClientError(error)) {
      // The text of an outage is for the log, which the code that threw it wrote.
      const message = isA(error, UnavailableError)
        ? "The service is temporarily unavailable"
        : error.message;
      return retryLater(error.code, message, error.toResponse(), error);
    }
    // Others, such as redirects, mean nothing to the caller of a procedure.
    if (isResponse(error) && error.status >= 400) return fromResponse(error);
    // Stopping because the caller has disconnected isn't an error.
    if (!call.isAbandonedBy(error)) reportError(onError, error, call);
    return internalError(error);
  };
}

/** The text of an error may come from the caller. */
function logError(error: unknown, { type, path }: CallInfo<unknown>): void {
  console.error("%s %s failed:", type, path, printableError(error));
}

function internalError(cause?: unknown, status = 500): RPCError {
  return new RPCError("INTERNAL_ERROR", "Internal server error", status, {
    cause,
  });
}

/**
 * Guards throw a `Response` of 400 or more to refuse a request. Callers of
 * procedures get its status in an envelope.
 */
function fromResponse(response: Response): RPCError {
  const { status } = response;
  if (status === 401) return errors.unauthorized();
  if (status === 403) return errors.forbidden();
  if (status === 404) return errors.notFound();
  if (status === 429) {
    return retryLater("RATE_LIMITED", "Too many requests", response);
  }
  if (status >= 400 && status < 500) {
    return new RPCError("BAD_REQUEST", "The request was refused", status);
  }
  return internalError(undefined, status);
}

/** Returns an error with the status and the `Retry-After` of a response. */
function retryLater(
  code: string,
  message: string,
  { status, headers }: Response,
  cause?: unknown,
): RPCError {
  const retryAfter = headers.get("retry-after");
  return new RPCError(code, message, status, {
    ...(retryAfter ? { headers: { "retry-after": retryAfter } } : {}),
    ...(cause === undefined ? {} : { cause }),
  });
}

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

/**
 * Returns which field of an input is invalid, and why.
 *
 * @param count The number of issues.
 */
export function invalidReason(
  details: ValidationDetails,
  input: unknown,
  count: number,
): string {
  if ("message" in details) return "refused: the input is invalid";
  const [issue] = details;
  const values = isDevCommand() ? valuesOf(input) : undefined;
  if (values !== undefined && issue !== undefined) {
    const message = withoutValues(clip(issue.message, MAX_MESSAGE), values);
    const reason = firstIssue([{ ...issue, message }], count);
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
