/**
 * Validates values, and reports invalid ones to callers and to the trace.
 *
 * @module
 */

import {
  attempt,
  type MaybePromise,
  whenDone,
} from "../../core/maybe_async.ts";
import { clip } from "../../core/redact/clip.ts";
import type {
  ParseSchema,
  Schema,
  SchemaResult,
  StandardSchema,
} from "./schema.ts";
import { isZodThatMayWait, type SafeParseResult } from "./zod.ts";

/** The result of a validation. */
export type Validation =
  | { readonly valid: true; readonly value: unknown }
  | {
    readonly valid: false;
    /** The schema's report about the value. */
    readonly error: unknown;
  };

type SafeParse = (value: unknown) => SafeParseResult | Promise<SafeParseResult>;

/**
 * Validates a value.
 *
 * A schema reports in one way: issues, a `safeParse` result, or otherwise an
 * error of `parse`. Any other error is a failure of the schema's code, such as
 * a database query in a refinement.
 *
 * @returns The parsed value, or the schema's report. A promise only if the
 * schema is asynchronous.
 * @throws Any error of the schema's code, or a `TypeError` if the schema's result
 * is neither a value nor a report.
 */
export function validate(
  schema: Schema,
  value: unknown,
): MaybePromise<Validation> {
  if ("~standard" in schema) {
    return isZodThatMayWait(schema)
      ? settle(() => schema.safeParseAsync(value), safelyParsed)
      : settle(
        () => (schema as StandardSchema)["~standard"].validate(value),
        validated,
      );
  }
  const { safeParse, safeParseAsync = safeParse } = schema as {
    readonly safeParse?: SafeParse;
    readonly safeParseAsync?: SafeParse;
  };
  return typeof safeParseAsync === "function"
    ? settle(() => safeParseAsync.call(schema, value), safelyParsed)
    : settle(() => (schema as ParseSchema).parse(value), parsed, refused);
}

/** Runs the schema's code. Waits only for promises: most schemas are synchronous. */
function settle<T>(
  run: () => T | Promise<T>,
  toValidation: (result: T) => Validation,
  failed = rethrow,
): MaybePromise<Validation> {
  return attempt(() => whenDone(run(), toValidation), failed);
}

/**
 * Reports a value that is nested too deeply, which is an error of the sender.
 */
function rethrow(error: unknown): Validation {
  const isOverflow = error instanceof RangeError &&
    error.message.startsWith("Maximum call stack size exceeded");
  if (!isOverflow) throw error;
  return refused({ issues: [{ message: "The value is nested too deeply" }] });
}

const refused = (error: unknown): Validation => ({ valid: false, error });

const parsed = (value: unknown): Validation => ({ valid: true, value });

const validated = (result: SchemaResult): Validation => {
  if (typeof result === "object" && result !== null) {
    if (result.issues !== undefined) return refused(result);
    if ("value" in result) return parsed(result.value);
  }
  throw malformed("neither a value nor issues");
};

const safelyParsed = (result: SafeParseResult): Validation => {
  if (result?.success === true) return parsed(result.data);
  if (result?.success === false) return refused(result.error);
  throw malformed("an invalid safeParse() result");
};

function malformed(what: string): TypeError {
  return new TypeError(`Cannot check value: the schema returned ${what}`);
}

/** The details of a `VALIDATION_ERROR`. */
export type ValidationDetails =
  | readonly ValidationIssue[]
  | { readonly message: string };

/** A problem of a value. */
export interface ValidationIssue {
  /** Keys and indexes from the outside in. Absent for the value itself. */
  readonly path?: readonly (string | number)[];
  /** The description of the problem. */
  readonly message: string;
  /** The schema library's name for it, such as `invalid_type`. */
  readonly code?: string;
}

/**
 * Reduces a schema's report to the parts for callers: path, message and code of
 * issues, or the message of an error.
 */
export function sanitizeValidationError(error: unknown): ValidationDetails {
  const issues = (error as { issues?: unknown } | null | undefined)?.issues;
  if (Array.isArray(issues)) return issues.map(sanitizeIssue);
  return { message: messageOf(error instanceof Error ? error : {}) };
}

/** Maximum characters of an issue in an error's message. */
const MAX_ISSUE = 200;

/** Returns the path and text of the first issue, and how many more there are. */
export function firstIssue(details: ValidationDetails): string {
  if ("message" in details) return clip(details.message, MAX_ISSUE);
  const [issue, ...others] = details;
  const path = issue?.path?.join(".");
  const text = issue?.message ?? FALLBACK;
  return clip(path ? `${path}: ${text}` : text, MAX_ISSUE) +
    (others.length === 0 ? "" : ` (and ${others.length} more)`);
}

/** Maximum fields named in a trace. */
const MAX_FIELDS = 10;

/** Returns the names of invalid fields for the trace, without their values. */
export function invalidFields(error: unknown): string | undefined {
  const details = sanitizeValidationError(error);
  if (!Array.isArray(details)) return undefined;
  const names = new Set(
    details.map(({ path }: ValidationIssue) => path?.join(".") ?? ""),
  );
  names.delete("");
  const shown = [...names].slice(0, MAX_FIELDS);
  if (names.size > MAX_FIELDS) shown.push("…");
  return shown.join(", ") || undefined;
}

const FALLBACK = "Validation failed";

function messageOf({ message }: { readonly message?: unknown }): string {
  return typeof message === "string" ? message : FALLBACK;
}

function sanitizeIssue(issue: unknown): ValidationIssue {
  const { path, message, code } = Object(issue) as Record<string, unknown>;
  return {
    // Not map(): a path of ArkType is an array of a class of its own.
    ...(Array.isArray(path) ? { path: Array.from(path, pathKey) } : {}),
    message: messageOf({ message }),
    ...(typeof code === "string" ? { code } : {}),
  };
}

/** Standard Schema has keys as they are or as `{ key }`; some are symbols. */
function pathKey(segment: unknown): string | number {
  const key = typeof segment === "object" && segment !== null
    ? (segment as { key?: unknown }).key
    : segment;
  return typeof key === "number" ? key : String(key);
}
