/**
 * What of a schema's values may be `undefined`, which JSON doesn't have.
 *
 * @module
 */

import type { Schema } from "../procedure/schema.ts";
import { validate } from "../procedure/validate.ts";
import { isZodThatMayWait } from "../procedure/zod.ts";

/** A JSON Schema. */
type Keywords = { readonly [keyword: string]: unknown };

/**
 * Whether a call without input passes, as far as can be known without waiting.
 */
export function mayBeAbsent(schema: Schema): boolean {
  if (isZodThatMayWait(schema)) {
    return optionality(schema, "optin") !== undefined;
  }
  const checked = validate(schema, undefined);
  return !(checked instanceof Promise) && checked.valid;
}

/**
 * Whether what a schema gives is never `undefined`, as far as can be known
 * without waiting.
 */
export function isAlwaysSent(schema: Schema, described: Keywords): boolean {
  const options = (described.anyOf ?? [described]) as Keywords[];
  if (options.some((option) => isAnything(option) || option.not)) return false;
  if (isZodThatMayWait(schema)) {
    return optionality(schema, "optout") !== "optional";
  }
  const checked = validate(schema, undefined);
  if (checked instanceof Promise) return false;
  return !checked.valid || checked.value !== undefined;
}

/** Whether a JSON Schema says nothing. */
export function isAnything(described: Keywords): boolean {
  return Object.keys(described).every((key) => key === "$comment");
}

/** What zod notes of a schema without running the functions in it. */
function optionality(schema: object, side: "optin" | "optout"): unknown {
  const { _zod: zod } = schema as {
    readonly _zod?: { readonly optin?: unknown; readonly optout?: unknown };
  };
  return zod?.[side];
}
