/**
 * Support for zod: detects its asynchronous schemas, and handles versions before
 * Standard Schema.
 *
 * By Standard Schema, zod first tries to check a value at once. If it meets a
 * promise, it begins again and lets go of that promise: a refinement that asks
 * a database asks twice, and when it fails, the rejection that nobody listens
 * to ends the process. Schemas that may meet one are checked by
 * `safeParseAsync` instead; the others are faster at once.
 *
 * @module
 */

/** A schema of zod, as far as it is used here. */
export interface ZodSchema {
  /** Checks a value once, whether it has to wait or not. */
  safeParseAsync(value: unknown): Promise<SafeParseResult>;
}

/** A schema that reports by `safeParse`, as zod's do since version 3. */
export interface SafeParseSchema extends Partial<ZodSchema> {
  /** Checks a value synchronously. */
  safeParse?(value: unknown): SafeParseResult | PromiseLike<SafeParseResult>;
}

/** What a check came to. */
export type SafeParseResult =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: unknown };

/** Whether a schema can report by a result, apart from throwing in `parse`. */
export function canSafeParse(schema: object): schema is SafeParseSchema {
  const { safeParse, safeParseAsync } = schema as SafeParseSchema;
  return typeof safeParse === "function" ||
    typeof safeParseAsync === "function";
}

/** Checks a value, asynchronously if the schema supports it. */
export function safeParse(
  schema: SafeParseSchema,
  value: unknown,
): SafeParseResult | PromiseLike<SafeParseResult> {
  return typeof schema.safeParseAsync === "function"
    ? schema.safeParseAsync(value)
    : schema.safeParse!(value);
}

/** Whether it is a schema of zod that holds a function which may be `async`. */
export function isSlowZod(schema: object): schema is ZodSchema {
  let slow = known.get(schema);
  if (slow === undefined) {
    slow = typeof (schema as Partial<ZodSchema>).safeParseAsync ===
        "function" && mayWait(schema);
    known.set(schema, slow);
  }
  return slow;
}

const known = new WeakMap<object, boolean>();

/** The types of schemas and checks that call a function, or await. */
const SLOW: readonly unknown[] = ["custom", "transform", "promise"];

/**
 * Where schemas and checks stand in a definition. Nothing else is looked at:
 * `defaultValue`, for one, runs the application's function when it is read.
 */
const PARTS = [
  ...["checks", "schema", "shape", "catchall", "element", "items", "rest"],
  ...["keyType", "valueType", "options", "left", "right", "in", "out"],
  ...["innerType", "input", "output"],
];

/**
 * How many schemas and checks are looked at. A factory of recursive schemas
 * makes new ones without end; to wait for those is right in any case.
 */
const MAX_NODES = 1_000;

function mayWait(schema: object): boolean {
  const nodes = new Set<object>([schema]);
  try {
    // A set gives what is added to it meanwhile as well.
    for (const node of nodes) {
      if (isSlow(node) || nodes.size > MAX_NODES) return true;
      for (const part of partsOf(node)) {
        if (typeof part === "object" && part !== null) nodes.add(part);
      }
    }
    return false;
  } catch {
    // A getter or a lazy schema of the application failed.
    return true;
  }
}

interface Node {
  readonly _zod?: {
    readonly def?: { readonly [key: string]: unknown };
    readonly innerType?: unknown;
  };
}

function isSlow(node: Node): boolean {
  // A schema of zod 3 tells nothing.
  if (node._zod === undefined) return "safeParseAsync" in node;
  const { def = {} } = node._zod;
  // A codec transforms although its type is that of any pipe.
  return SLOW.includes(def.type) || SLOW.includes(def.check) ||
    typeof def.transform === "function";
}

function partsOf(node: Node): Iterable<unknown> {
  // What is no schema is a shape, or a list of options.
  if (node._zod === undefined) {
    return node instanceof Map ? node.values() : Object.values(node);
  }
  const { def = {} } = node._zod;
  // As zod reads it: it keeps what the getter has made.
  if (def.type === "lazy") return [node._zod.innerType];
  return PARTS.map((key) => def[key]);
}
