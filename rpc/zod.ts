/**
 * Which of zod's schemas may have to wait.
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
  safeParseAsync(value: unknown): Promise<ZodResult>;
}

/** What a check came to. */
export type ZodResult =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly error: unknown };

/** Whether it is a schema of zod that holds a function which may be `async`. */
export function isSlowZod(schema: object): schema is ZodSchema {
  let slow = known.get(schema);
  if (slow === undefined) {
    slow = typeof (schema as Partial<ZodSchema>).safeParseAsync ===
        "function" && mayWait(schema, new Set());
    known.set(schema, slow);
  }
  return slow;
}

const known = new WeakMap<object, boolean>();

/** The types of schemas and checks that call a function, or await. */
const SLOW: readonly unknown[] = ["custom", "transform", "promise"];

function mayWait(node: unknown, seen: Set<object>): boolean {
  if (typeof node !== "object" || node === null || seen.has(node)) return false;
  seen.add(node);
  if (Array.isArray(node)) return node.some((item) => mayWait(item, seen));
  if (node instanceof Map || node instanceof Set) {
    return mayWait([...node], seen);
  }
  const { _zod: zod } = node as { _zod?: { def?: Record<string, unknown> } };
  if (zod === undefined) {
    // A schema of zod 3 tells nothing. What else is here is a shape.
    return "safeParseAsync" in node || mayWait(Object.values(node), seen);
  }
  const { def = {} } = zod;
  if (SLOW.includes(def.type) || SLOW.includes(def.check)) return true;
  // A codec transforms although its type is that of any pipe.
  if (typeof def.transform === "function") return true;
  if (def.type === "lazy") {
    return mayWait((def.getter as () => unknown)(), seen);
  }
  return mayWait(Object.values(def), seen);
}
