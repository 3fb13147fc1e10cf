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

/** The used part of a zod schema. */
export interface ZodSchema {
  readonly "~standard": { readonly vendor: "zod" };
  /** Whether its input or output is optional. Zod 3 doesn't say. */
  readonly _zod?: { readonly optin?: unknown; readonly optout?: unknown };
  /** Validates a value once, synchronously or not. */
  safeParseAsync(value: unknown): Promise<SafeParseResult>;
}

/** The result of a `safeParse` function, as in zod since version 3. */
export type SafeParseResult =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: unknown };

/**
 * Whether a schema is zod's and may be asynchronous: it contains a function of
 * the application, or a type that isn't known here.
 *
 * Through Standard Schema, zod first validates synchronously. If it meets a
 * promise it starts again and drops that promise: an asynchronous refinement
 * runs twice, and its rejection ends the process (colinhacks/zod#6610). Such
 * schemas are validated by `safeParseAsync()` instead. Doing so for all schemas
 * would cost a quarter of the throughput.
 */
export function isZodThatMayWait(schema: object): schema is ZodSchema {
  let waits = known.get(schema);
  if (waits === undefined) {
    known.set(schema, waits = isZod(schema) && mayWait(schema));
  }
  return waits;
}

function isZod(schema: Partial<ZodSchema>): boolean {
  return schema["~standard"]?.vendor === "zod" &&
    typeof schema.safeParseAsync === "function";
}

const known = new WeakMap<object, boolean>();

/** Zod's synchronous types. */
const SYNCHRONOUS = new Set(
  ("any array bigint boolean catch date default enum file intersection lazy " +
    "literal map nan never nonoptional null nullable number object optional " +
    "pipe prefault readonly record set string success symbol " +
    "template_literal tuple undefined union unknown void").split(" "),
);

/**
 * The properties of their definitions that can hold inner schemas (`_zod.def`,
 * see https://zod.dev/packages/core).
 */
const PARTS = ("catchall element in innerType items keyType left options out " +
  "rest right shape valueType").split(" ");

/**
 * Maximum schemas to visit. A function that always returns a new recursive
 * schema would never end.
 */
const MAX_NODES = 1_000;

interface Node {
  readonly _zod?: {
    readonly def: {
      readonly type: string;
      readonly checks?: readonly Node[];
      readonly [part: string]: unknown;
    };
    readonly innerType?: unknown;
  };
}

function mayWait(schema: Node): boolean {
  const nodes = new Set<Node>([schema]);
  try {
    // The loop also visits schemas that are added meanwhile.
    for (const node of nodes) {
      if (nodes.size > MAX_NODES) return true;
      const parts = partsOf(node);
      if (parts === undefined) return true;
      for (const part of parts.flatMap(schemasIn)) nodes.add(part);
    }
    return false;
  } catch {
    // A getter of the application threw.
    return true;
  }
}

/** Returns the parts of a synchronous schema, `undefined` of any other. */
function partsOf({ _zod: zod }: Node): readonly unknown[] | undefined {
  // Zod 3 has no such definition.
  if (zod === undefined) return undefined;
  const { def } = zod;
  const { type, checks = [] } = def;
  // A codec is a pipe with functions.
  if (!SYNCHRONOUS.has(type) || def.transform !== undefined) return undefined;
  if (checks.some((check) => check._zod?.def.check === "custom")) {
    return undefined;
  }
  return [
    ...PARTS.map((part) => def[part]),
    // Of `lazy`: zod keeps the schema that the getter returned.
    zod.innerType,
    ...checks.map((check) => check._zod?.def.schema),
  ];
}

/** Returns the schemas in a part: itself, or the items of a list or shape. */
function schemasIn(part: unknown): readonly Node[] {
  if (typeof part !== "object" || part === null) return [];
  return "_zod" in part ? [part as Node] : Object.values(part);
}
