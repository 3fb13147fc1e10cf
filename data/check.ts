/** Checks of what callers give, in the kit's grammar of errors. */

/** @throws {TypeError} If `value` is not a number above 0. */
export function checkPositive(value: unknown, name: string, doing: string) {
  if (typeof value === "number" && value > 0) return;
  throw new TypeError(
    `Cannot ${doing}: ${name} must be a positive number, received ${
      show(value)
    }`,
  );
}

/** @throws {TypeError} If `value` is not a list of strings, none empty. */
export function checkStrings(
  value: unknown,
  name: string,
  doing: string,
): asserts value is readonly string[] {
  if (!Array.isArray(value)) {
    throw new TypeError(
      `Cannot ${doing}: ${name} must be an array of strings, received ${
        show(value)
      }`,
    );
  }
  // By index: `some` and `every` pass over the holes of a sparse array.
  for (let i = 0; i < value.length; i++) {
    if (typeof value[i] === "string" && value[i] !== "") continue;
    throw new TypeError(
      `Cannot ${doing}: ${name}[${i}] must be a string that is not empty, received ${
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

/** A value in an error: what it is, and not much of it. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 39)}…` : value);
  }
  if (Array.isArray(value)) return "an array";
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}
