/**
 * Checks of what procedures are defined by.
 *
 * @module
 */

import { kindOf } from "../../core/check/show.ts";
import type { Schema } from "./schema.ts";

/** @throws {TypeError} If it is no function. */
export function checkFunction(
  value: unknown,
  what: string,
  // deno-lint-ignore no-explicit-any -- any function is
): asserts value is (args: any) => any {
  if (typeof value === "function") return;
  throw new TypeError(
    `Cannot define ${what} must be a function, received ${kindOf(value)}`,
  );
}

/** @throws {TypeError} If it is nothing that checks values. */
export function checkSchema(
  value: unknown,
  what: string,
): asserts value is Schema {
  const { "~standard": standard, parse } = Object(value) as Record<
    string,
    unknown
  >;
  if (standard || typeof parse === "function") return;
  throw new TypeError(
    `Cannot define ${what} must be a schema (zod, Standard Schema, or an object with a parse function), received ${
      kindOf(value)
    }`,
  );
}
