/**
 * Validates values, and reports invalid ones to callers and to the trace.
 *
 * @module
 */

import { attempt, type MaybePromise, whenDone } from "../../core/promises.ts";
import { clip } from "../../core/redact/redact.ts";
import {
  isZodThatMayWait,
  type ParseSchema,
  type SafeParseResult,
  type Schema,
  type SchemaResult,
  type StandardSchema,
} from "./schema.ts";

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
  if (result?.issues !== undefined) return refused(result);
  if ("value" in Object(result)) return parsed(result.value);
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

// A value of 1 MiB may have half a million issues, or a key of that size.
/** Maximum issues in the details. */
const MAX_ISSUES = 100;
/** Maximum characters of all issues as JSON. One issue never has more. */
const MAX_SIZE = 65_536;
/** Maximum characters of a message. */
const MAX_MESSAGE = 2_000;
/** Maximum keys of a path. */
const MAX_KEYS = 64;
/** Maximum characters of such a key. */
const MAX_KEY = 128;

/**
 * Returns the parts of a schema's report for callers: path, message and code of
 * the first issues, or the message of an error.
 *
 * @param value The rejected value, which the messages then don't quote.
 */
export function detailsOf(error: unknown, value: unknown): ValidationDetails {
  const partsOf = createPartsOf();
  const issues = issuesOf(error);
  if (issues === undefined) {
    const message = error instanceof Error && error.message;
    return { message: textOf(message, value, partsOf) };
  }
  const details: ValidationIssue[] = [];
  let size = 0;
  for (const it of issues) {
    const issue = issueOf(it, value, partsOf);
    size += JSON.stringify(issue).length;
    if (details.length === MAX_ISSUES || size > MAX_SIZE) break;
    details.push(issue);
  }
  return details;
}

/** Returns the number of issues in a schema's report. */
export function countIssues(error: unknown): number {
  return issuesOf(error)?.length ?? 0;
}

function issuesOf(error: unknown): readonly unknown[] | undefined {
  const issues = (error as { issues?: unknown } | null | undefined)?.issues;
  return Array.isArray(issues) ? issues : undefined;
}

/** Maximum characters of an issue in an error's message. */
const MAX_ISSUE = 200;

/**
 * Returns the path and text of the first issue, and how many more there are.
 *
 * @param count The number of issues. `details` may have fewer.
 */
export function firstIssue(details: ValidationDetails, count: number): string {
  if ("message" in details) return clip(details.message, MAX_ISSUE);
  const [issue] = details;
  const path = issue?.path?.join(".");
  const text = issue?.message ?? FALLBACK;
  return clip(path ? `${path}: ${text}` : text, MAX_ISSUE) +
    (count <= 1 ? "" : ` (and ${count - 1} more)`);
}

/** Maximum fields named in a trace. */
const MAX_FIELDS = 10;

/** Returns the names of invalid fields for the trace, without their values. */
export function invalidFields(details: ValidationDetails): string | undefined {
  if ("message" in details) return undefined;
  const names = new Set(details.flatMap(({ path }) => path?.join(".") || []));
  const shown = [...names].slice(0, MAX_FIELDS);
  if (names.size > MAX_FIELDS) shown.push("…");
  return shown.join(", ") || undefined;
}

const FALLBACK = "Validation failed";

/** A text in quotes, or a number where messages and JSON have a value. */
const SHOWN = /"[^"]*"|'[^']*'|(?<=\b(?:was|received) |[:[,])-?\d[\d.e+-]*/gi;

/** Returns a value and everything in it. */
type PartsOf = (value: unknown) => ReadonlySet<unknown>;

/** Many issues may be about the same value, which may be large. */
function createPartsOf(): PartsOf {
  const known = new Map<unknown, Set<unknown>>();
  return (value) => {
    let parts = known.get(value);
    if (parts !== undefined) return parts;
    known.set(value, parts = new Set([value]));
    // The loop also visits parts that it adds.
    for (const part of parts) {
      const inner = typeof part === "object" ? Object.values(part ?? {}) : [];
      for (const it of inner) parts.add(it);
    }
    return parts;
  };
}

/**
 * Returns a message that names the types of rejected values instead of quoting
 * them. Valibot and ArkType quote them, and callers log messages.
 */
function textOf(message: unknown, value: unknown, partsOf: PartsOf): string {
  if (typeof message !== "string") return FALLBACK;
  // Cut last: half of a quoted value would stay.
  return clip(withoutValue(message, value, partsOf), MAX_MESSAGE);
}

function withoutValue(
  message: string,
  value: unknown,
  partsOf: PartsOf,
): string {
  if (typeof value === "string") {
    // ArkType escapes the quotes in a text, Valibot doesn't.
    return [JSON.stringify(value), `"${value}"`, `'${value}'`]
      .reduce((text, shown) => text.replaceAll(shown, "a string"), message);
  }
  return message.replaceAll(SHOWN, (shown) => {
    const part = /["']/.test(shown) ? shown.slice(1, -1) : Number(shown);
    return partsOf(value).has(part) ? `a ${typeof part}` : shown;
  });
}

function issueOf(
  issue: unknown,
  value: unknown,
  partsOf: PartsOf,
): ValidationIssue {
  const { path, message, code, input, data = input } = Object(issue);
  // Not map(): a path of ArkType is an array of a class of its own.
  const keys = Array.isArray(path) ? Array.from(path, pathKey) : [];
  const part = keys.reduce((part, key) => Object(part)[key], value);
  // ArkType and Valibot may have transformed a text before they rejected it.
  const rejected = typeof (data ?? {}) === "object" ? part : data;
  return {
    ...(Array.isArray(path) ? { path: keys.slice(0, MAX_KEYS).map(cut) } : {}),
    // A rejected key is in the path as well.
    message: textOf(
      message,
      rejected === keys.at(-1) ? undefined : rejected,
      partsOf,
    ),
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

function cut(key: string | number): string | number {
  return typeof key === "number" ? key : clip(key, MAX_KEY);
}
