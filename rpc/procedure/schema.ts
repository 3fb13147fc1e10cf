/**
 * What the kit takes as a schema: anything that speaks
 * [Standard Schema](https://standardschema.dev) (zod, Valibot, ArkType, …), or
 * an object with a `parse` function that throws, with or without `safeParse`.
 *
 * @module
 */

import { type Rule, rule } from "../../core/check/rules.ts";

/** A schema of a library that follows Standard Schema, version 1. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The properties that the standard names. */
  readonly "~standard": {
    /** The version of the standard. */
    readonly version: 1;
    /** The library. */
    readonly vendor: string;
    /** Returns the parsed value, or the issues found. */
    readonly validate: (
      value: unknown,
    ) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Only for the compiler. */
    readonly types?:
      | { readonly input: Input; readonly output: Output }
      | undefined;
  };
}

/** The result of {@linkcode StandardSchema}: a value, or the issues found. */
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

/**
 * The input that a schema takes: fields with a default are optional.
 *
 * @typeParam Otherwise The result for anything but a schema.
 */
export type SchemaInput<S, Otherwise = undefined> =
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
    : Otherwise;

/**
 * The value that a schema makes of its input: handlers get this.
 *
 * @typeParam Otherwise The result for anything but a schema.
 */
export type SchemaOutput<S, Otherwise = undefined> = S extends
  { readonly _zod: { readonly output: unknown } } ? S["_zod"]["output"]
  : S extends {
    readonly "~standard": {
      readonly types?: { readonly output: infer Output } | undefined;
    };
  } ? Output
  : S extends { readonly parse: (value: unknown) => infer Output }
    ? Awaited<Output>
  : Otherwise;

/** A schema, for the checks of options. */
export const aSchema: Rule = rule(
  "a schema (zod, Standard Schema, or an object with a parse function)",
  (value) => {
    const { "~standard": standard, parse } = Object(value);
    return Boolean(standard) || typeof parse === "function";
  },
);
