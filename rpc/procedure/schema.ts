/**
 * What the kit takes as a schema: anything that speaks
 * [Standard Schema](https://standardschema.dev) (zod, Valibot, ArkType, …), or
 * an object with a `parse` function that throws, with or without `safeParse`.
 *
 * @module
 */

import { isThenable } from "../../core/observe.ts";
import { canSafeParse, isSlowZod, safeParse } from "./zod.ts";
import type { SafeParseResult } from "./zod.ts";

/** A schema of a library that follows Standard Schema, version 1. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The properties that the standard names. */
  readonly "~standard": {
    /** The version of the standard. */
    readonly version: 1;
    /** The library. */
    readonly vendor: string;
    /** Checks a value and gives what it became, or the issues found. */
    readonly validate: (
      value: unknown,
    ) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Only for the compiler. */
    readonly types?:
      | { readonly input: Input; readonly output: Output }
      | undefined;
  };
}

/** What the check of a value came to. */
export type SchemaResult<Output = unknown> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly unknown[] };

/**
 * A schema without a library: `parse` returns the value or throws an `Error`,
 * whose message is sent to the caller. If the schema also has `safeParse` or
 * `safeParseAsync`, as in zod 3, that is called instead.
 */
export interface ParseSchema<Output = unknown> {
  /** Checks a value and gives what it became; throws if it is not right. */
  parse(value: unknown): Output;
}

/**
 * Any schema.
 *
 * It says no more than it takes to tell a schema from a handler: the compiler
 * checks each procedure against it, and comparing a whole schema of zod's
 * costs more than everything else about a procedure.
 */
export type Schema =
  // Zod's first: it has the other property as well, but what that is takes the
  // compiler longer to work out than the rest of the procedure.
  | { readonly _zod: object }
  | { readonly "~standard": object }
  | { readonly parse: (value: unknown) => unknown };

/** What callers pass for a schema: fields with a default are optional. */
export type SchemaInput<S> =
  // Zod's own place for it. By `~standard` it would come out the same, after a
  // third more work for the compiler.
  S extends { readonly _zod: { readonly input: unknown } } ? S["_zod"]["input"]
    : S extends {
      readonly "~standard": {
        readonly types?: { readonly input: infer Input } | undefined;
      };
    } ? Input
    : S extends { readonly parse: (value: unknown) => infer Output }
      ? Awaited<Output>
    : undefined;

/** What a schema makes of its input: handlers get this. */
export type SchemaOutput<S> = S extends
  { readonly _zod: { readonly output: unknown } } ? S["_zod"]["output"]
  : S extends {
    readonly "~standard": {
      readonly types?: { readonly output: infer Output } | undefined;
    };
  } ? Output
  : S extends { readonly parse: (value: unknown) => infer Output }
    ? Awaited<Output>
  : undefined;

/** The result of a check. */
export type Check =
  | { readonly valid: true; readonly value: unknown }
  | {
    readonly valid: false;
    /** The schema's report about the value. */
    readonly error: unknown;
  };

/**
 * Checks a value.
 *
 * A schema has one way to report: issues, a `safeParse` result, or an error of
 * `parse` if it has no other way. Any other error is a failure of the schema's
 * code, such as a refinement whose database is down.
 *
 * @returns The parsed value, or the schema's report.
 * @throws Any error of the schema's code, or a `TypeError` if the schema's result
 * is neither a value nor a report.
 */
export function check(schema: Schema, value: unknown): Check | Promise<Check> {
  const failed = reportsByThrowing(schema) ? refused : rethrow;
  try {
    if ("~standard" in schema) {
      const { "~standard": standard } = schema as StandardSchema;
      return standard.vendor === "zod" && isSlowZod(schema)
        ? settle(schema.safeParseAsync(value), safelyParsed, failed)
        : settle(standard.validate(value), validated, failed);
    }
    return canSafeParse(schema)
      ? settle(safeParse(schema, value), safelyParsed, failed)
      : settle((schema as ParseSchema).parse(value), parsed, failed);
  } catch (error) {
    return failed(error);
  }
}

function reportsByThrowing(schema: Schema): boolean {
  return !("~standard" in schema) && !canSafeParse(schema);
}

/** Awaits only what can be awaited: most schemas answer at once. */
function settle<T>(
  result: T | PromiseLike<T>,
  toCheck: (result: T) => Check,
  failed: (error: unknown) => Check,
): Check | Promise<Check> {
  if (!isThenable(result)) return toCheck(result);
  return Promise.resolve(result as PromiseLike<T>).then(toCheck, failed);
}

/** Reports a value that is nested too deeply: the sender's fault, not the code's. */
function rethrow(error: unknown): Check {
  const isOverflow = error instanceof RangeError &&
    error.message.startsWith("Maximum call stack size exceeded");
  if (!isOverflow) throw error;
  return refused({ issues: [{ message: "The value is nested too deeply" }] });
}

const refused = (error: unknown): Check => ({ valid: false, error });

const parsed = (value: unknown): Check => ({ valid: true, value });

const validated = (result: SchemaResult): Check => {
  if (typeof result === "object" && result !== null) {
    if (result.issues !== undefined) return refused(result);
    if ("value" in result) return parsed(result.value);
  }
  throw malformed("neither a value nor issues");
};

const safelyParsed = (result: SafeParseResult): Check => {
  if (result?.success === true) return parsed(result.data);
  if (result?.success === false) return refused(result.error);
  throw malformed("an invalid safeParse() result");
};

function malformed(what: string): TypeError {
  return new TypeError(`Cannot check value: the schema returned ${what}`);
}

/** What is told to a caller of a value that a schema refused. */
export type ValidationDetails =
  | readonly ValidationIssue[]
  | { readonly message: string };

/** One thing that was wrong with a value. */
export interface ValidationIssue {
  /** Where: keys and indexes from the outside in. Absent for the value itself. */
  readonly path?: readonly (string | number)[];
  /** What was wrong. */
  readonly message: string;
  /** The schema library's name for it, such as `invalid_type`. */
  readonly code?: string;
}

/**
 * Makes of a validation error what a caller may see: of issues their path,
 * message and code, of an ordinary error its message, of anything else nothing.
 */
export function sanitizeValidationError(error: unknown): ValidationDetails {
  const issues = (error as { issues?: unknown } | null | undefined)?.issues;
  if (Array.isArray(issues)) return issues.map(sanitizeIssue);
  return { message: messageOf(error instanceof Error ? error : {}) };
}

/** How many fields are named in a trace. */
const MAX_FIELDS = 10;

/** Names the fields that were refused, for the trace; never what was in them. */
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
    ...(Array.isArray(path) ? { path: path.map(pathKey) } : {}),
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
