/**
 * Describes schemas in JSON Schema, draft 2020-12, with Standard JSON Schema
 * (https://standardschema.dev/json-schema).
 *
 * @module
 */

import { isZodThatMayWait, type Schema } from "../procedure/schema.ts";
import { validate } from "../procedure/validate.ts";

/** A JSON Schema: an object of keywords. */
export interface JSONSchema {
  /** A keyword of draft 2020-12. */
  readonly [keyword: string]: unknown;
}

/**
 * Describes a schema that can't describe itself. `undefined` means any value.
 * The description of a part can't contain references.
 */
export type ToJSONSchema = (
  schema: Schema,
  direction: "input" | "output",
) => JSONSchema | undefined;

/**
 * Describes the input or output of a schema, as JSON. Parts without a JSON
 * Schema are any value, with the reason in `$comment`.
 *
 * @param toJSONSchema Called first for such parts.
 * @throws Any error of `toJSONSchema`, or zod's errors about misuse.
 */
export function describeSchema(
  schema: Schema,
  direction: "input" | "output",
  toJSONSchema: ToJSONSchema = () => undefined,
): JSONSchema {
  const standard = (schema as { "~standard"?: Standard })["~standard"];
  const convert = standard?.jsonSchema?.[direction];
  const replace = (part: Schema, reason: string) =>
    toJSONSchema(part, direction) ?? anything(reason);

  if (standard === undefined || typeof convert !== "function") {
    return replace(schema, "The schema has no Standard JSON Schema");
  }
  if (standard.vendor === "zod") {
    return convert({
      target: TARGET,
      // Describes the rest of an object that contains such a part.
      libraryOptions: {
        unrepresentable: ({ zodSchema, message }: Unrepresentable) =>
          toJSONSchema(zodSchema, direction) ??
            describeZod(zodSchema._zod.def, direction) ?? anything(message),
        ...(direction === "output" ? { override: describeAsSent } : {}),
      },
    });
  }
  try {
    return convert({ target: TARGET });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return replace(schema, reason);
  }
}

const TARGET = "draft-2020-12";

/** The used part of Standard JSON Schema. */
interface Standard {
  readonly vendor?: unknown;
  readonly jsonSchema?: {
    readonly [D in "input" | "output"]?: (options: {
      readonly target: string;
      readonly libraryOptions?: Record<string, unknown>;
    }) => JSONSchema;
  };
}

type ZodSchema = Schema & { readonly _zod: { readonly def: ZodDef } };

/** Zod's error for a type without a JSON Schema. */
interface Unrepresentable {
  readonly zodSchema: ZodSchema;
  readonly message: string;
}

/** A type that zod has described. */
interface Described {
  readonly zodSchema: ZodSchema;
  readonly jsonSchema: {
    readonly properties?: { readonly [key: string]: JSONSchema };
    readonly additionalProperties?: JSONSchema;
    required?: string[];
    items?: JSONSchema | false;
    prefixItems?: JSONSchema[];
  };
}

interface ZodDef {
  readonly type: string;
  readonly coerce?: boolean;
  readonly values?: readonly unknown[];
  readonly shape?: { readonly [key: string]: Schema };
  readonly valueType?: Schema;
  readonly element?: Schema;
  readonly items?: readonly Schema[];
}

function anything(reason: string): JSONSchema {
  return { $comment: reason };
}

/** Describes the zod types whose JSON form is certain. */
function describeZod(
  { type, coerce, values }: ZodDef,
  direction: "input" | "output",
): JSONSchema | "any" | undefined {
  if (type === "date" && (direction === "output" || coerce)) {
    return { type: "string", format: "date-time" };
  }
  if (type === "undefined" || type === "void") return NEVER;
  // "any" keeps the literal's other values.
  if (type === "literal" && values?.includes(undefined)) {
    return values.length > 1 ? "any" : NEVER;
  }
  return undefined;
}

/** JSON has no `undefined`, so nothing matches it. */
const NEVER: JSONSchema = { not: {} };

/**
 * Converts zod's description to JSON: `undefined` is a missing key in an
 * object, and `null` in an array.
 */
function describeAsSent({ zodSchema, jsonSchema }: Described): void {
  const { shape, valueType, element, items } = zodSchema._zod.def;
  const { required, properties, additionalProperties } = jsonSchema;
  if (required !== undefined) {
    const sent = required.filter((key) => {
      const schema = shape?.[key] ?? valueType;
      const described = properties?.[key] ?? additionalProperties;
      return !schema || !described || isAlwaysSent(schema, described);
    });
    if (sent.length > 0) jsonSchema.required = sent;
    else delete jsonSchema.required;
  }
  if (element !== undefined && jsonSchema.items) {
    jsonSchema.items = orNull(element, jsonSchema.items);
  }
  if (items !== undefined && jsonSchema.prefixItems) {
    jsonSchema.prefixItems = jsonSchema.prefixItems.map((described, i) =>
      orNull(items[i]!, described)
    );
  }
}

function orNull(schema: Schema, described: JSONSchema): JSONSchema {
  return isAnything(described) || isAlwaysSent(schema, described)
    ? described
    : { anyOf: [described, { type: "null" }] };
}

/**
 * Whether a call without input is valid. Only synchronous schemas are checked.
 */
export function mayBeAbsent(schema: Schema): boolean {
  if (isZodThatMayWait(schema)) return schema._zod?.optin !== undefined;
  const checked = validate(schema, undefined);
  return !(checked instanceof Promise) && checked.valid;
}

/**
 * Whether a schema never returns `undefined`. Only synchronous schemas are
 * checked.
 */
export function isAlwaysSent(schema: Schema, described: JSONSchema): boolean {
  const options = (described.anyOf ?? [described]) as JSONSchema[];
  if (options.some((option) => isAnything(option) || option.not)) return false;
  if (isZodThatMayWait(schema)) return schema._zod?.optout !== "optional";
  const checked = validate(schema, undefined);
  if (checked instanceof Promise) return false;
  return !checked.valid || checked.value !== undefined;
}

/** Whether a JSON Schema has no constraints. */
function isAnything(described: JSONSchema): boolean {
  return Object.keys(described).every((key) => key === "$comment");
}
