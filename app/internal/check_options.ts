import { show } from "./show.ts";

/**
 * The keys of an options type. A missing or additional key doesn't compile.
 */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

/**
 * Checks that options are an object without unknown keys. Only own enumerable
 * keys count.
 *
 * @param known The known keys.
 * @param operation The operation in error messages, such as `create cache`.
 * @param name The object's name in error messages, such as `session`.
 * @throws {TypeError} If it isn't an object, or has an unknown key.
 */
export function checkOptions(
  value: unknown,
  known: Readonly<Record<string, true>>,
  operation: string,
  name = "options",
): asserts value is object {
  const problem = findProblem(value, known, name);
  if (problem !== undefined) {
    throw new TypeError(`Cannot ${operation}: ${problem}`);
  }
}

/** Returns the problem with some options, or `undefined` if they are valid. */
export function findProblem(
  value: unknown,
  known: Readonly<Record<string, true>>,
  name: string,
): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `${name} must be an object, received ${show(value)}`;
  }
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(known, key)) continue;
    const names = Object.keys(known);
    const meant = closest(key, names);
    const path = name === "options" ? key : `${name}.${key}`;
    return `unknown option ${show(path)}${
      meant === undefined ? "." : `; did you mean ${meant}?`
    } Known options: ${names.join(", ")}`;
  }
  return undefined;
}

/** Returns the known name that a typo most likely stands for. */
function closest(key: string, names: readonly string[]): string | undefined {
  const typo = plain(key);
  let best: string | undefined;
  // A third of the letters may be wrong, but not all of a short name.
  let least = Math.min(3, Math.ceil(typo.length / 3)) + 1;
  if (typo.length > 40) return undefined;
  for (const name of names) {
    const distance = distanceOf(typo, plain(name));
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** Normalizes a name: `http_only` and `HTTPOnly` become `httponly`. */
function plain(key: string): string {
  return key.replace(/[^a-z0-9]/gi, "").toLowerCase();
}

/** Returns the Levenshtein distance: letters to add, remove or replace. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(
        row[j]! + 1,
        next[j - 1]! + 1,
        row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    }
    row = next;
  }
  return row[b.length]!;
}
