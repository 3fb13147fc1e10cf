/**
 * Schemas: any library with [Standard Schema](https://standardschema.dev) (zod,
 * Valibot, ArkType, …), or an object with a `parse` function that throws, with
 * or without `safeParse`.
 *
 * @module
 */

import { type Rule, rule } from "../../core/check/rules.ts";

/** A schema of a library that follows Standard Schema, version 1. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The properties of the standard. */
  readonly "~standard": {
    /** The version of the standard. */
    readonly version: 1;
    /** The library. */
    readonly vendor: string;
    /** Returns the parsed value, or the issues found. */
    readonly validate: (
      value: unknown,
    ) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** For the compiler only. */
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
  /** Returns the parsed value. Throws if it is invalid. */
  parse(value: unknown): Output;
}

/**
 * Any schema.
 *
 * Just enough to distinguish a schema from a handler. The compiler checks each
 * procedure against it, and comparing a whole zod schema would cost more than
 * the rest of the procedure.
 */
export type Schema =
  // Zod's property first. Its `~standard` has the same types, but costs the
  // compiler more than the rest of the procedure.
  | { readonly _zod: object }
  | { readonly "~standard": object }
  | { readonly parse: (value: unknown) => unknown };

/**
 * The input that a schema takes: fields with a default are optional.
 *
 * @typeParam Otherwise The result for anything but a schema.
 */
export type SchemaInput<S, Otherwise = undefined> =
  // Zod's own property. `~standard` gives the same type, for a third more work.
  S extends { readonly _zod: { readonly input: unknown } } ? S["_zod"]["input"]
    : S extends {
      readonly "~standard": {
        readonly types?: { readonly input: infer Input } | undefined;
      };
    } ? Input
    // Before 3.24, zod has no Standard Schema.
    : S extends { readonly _input: infer Input } ? Input
    : S extends { readonly parse: (value: unknown) => infer Output }
      ? Awaited<Output>
    : Otherwise;

/**
 * The parsed value of a schema, which handlers get.
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
