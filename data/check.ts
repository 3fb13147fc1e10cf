/**
 * Checks of what callers give, in the kit's grammar of errors.
 *
 * @module
 */

import { show } from "../core/check/show.ts";

/** @throws {TypeError} If `value` is not a number above 0. */
export function checkPositive(value: unknown, name: string, operation: string) {
  if (typeof value === "number" && value > 0) return;
  throw new TypeError(
    `Cannot ${operation}: ${name} must be a positive number, received ${
      show(value)
    }`,
  );
}

/** @throws {TypeError} If `value` is not a finite number from 0 up. */
export function checkSeconds(
  value: unknown,
  name: string,
  operation: string,
): asserts value is number {
  if (typeof value === "number" && value >= 0 && value < Infinity) return;
  throw new TypeError(
    `Cannot ${operation}: ${name} must be a number of seconds, 0 or more, received ${
      show(value)
    }`,
  );
}

/** @throws {TypeError} If `value` is not a list of strings, none empty. */
export function checkStrings(
  value: unknown,
  name: string,
  operation: string,
): asserts value is readonly string[] {
  if (!Array.isArray(value)) {
    throw new TypeError(
      `Cannot ${operation}: ${name} must be an array of strings, received ${
        show(value)
      }`,
    );
  }
  // By index: `some` and `every` pass over the holes of a sparse array.
  for (let i = 0; i < value.length; i++) {
    if (typeof value[i] === "string" && value[i] !== "") continue;
    throw new TypeError(
      `Cannot ${operation}: ${name}[${i}] must be a non-empty string, received ${
        show(value[i])
      }`,
    );
  }
}

/** A copy of tags as every store can keep them: without lone surrogates. */
export function normalizeTags(tags: readonly string[]): string[] {
  // A plain copy shares its elements with the literal that most lists are.
  return tags.every((tag) => tag.isWellFormed())
    ? [...tags]
    : tags.map((tag) => tag.toWellFormed());
}
