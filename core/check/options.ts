/**
 * Checks the names and values of options where they are passed.
 *
 * @module
 */

import { isObject, kindOf, type Rule, show } from "./rules.ts";

/** Rules by option name. `true` is for values that are checked elsewhere. */
export type Rules = Readonly<Record<string, Rule | true>>;

/**
 * The {@linkcode Rules} of an options type. A missing or additional name doesn't
 * compile.
 */
export type OptionRules<T> = Readonly<Record<keyof T, Rule | true>>;

/**
 * Checks that options are an object without unknown names, and that their values
 * meet the rules. Unknown names that are inherited or non-enumerable are ignored.
 * Known ones are checked, because code that reads options gets them too.
 *
 * @param rules The rules of the known options.
 * @param operation The operation in error messages, such as `create cache`.
 * @param name The object's name in error messages, such as `session`.
 * @throws {TypeError} If something is wrong.
 */
export function checkOptions(
  value: unknown,
  rules: Rules,
  operation: string,
  name = "options",
): asserts value is object {
  const problem = findProblem(value, rules, name);
  if (problem !== undefined) {
    throw new TypeError(`Cannot ${operation}: ${problem}`);
  }
}

/**
 * Checks one value.
 *
 * @param name The value's name in error messages, such as `maxEntries`.
 * @param operation The operation in error messages, such as `create cache`.
 * @throws {TypeError} If the value doesn't meet the rule.
 */
export function checkValue(
  value: unknown,
  name: string,
  rule: Rule,
  operation: string,
): void {
  if (rule.test(value)) return;
  throw new TypeError(`Cannot ${operation}: ${violation(value, name, rule)}`);
}

/** Returns the problem with some options, or `undefined` if they are valid. */
export function findProblem(
  options: unknown,
  rules: Rules,
  name: string,
): string | undefined {
  if (!isObject(options)) {
    return `${name} must be an object, received ${show(options)}`;
  }
  const prefix = name === "options" ? "" : `${name}.`;
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(rules, key)) {
      return unknownOption(key, prefix, Object.keys(rules));
    }
  }
  for (const [key, rule] of Object.entries(rules)) {
    if (rule === true) continue;
    const value = options[key];
    if (value === undefined ? rule.isRequired : !rule.test(value)) {
      return violation(value, prefix + key, rule);
    }
  }
  return undefined;
}

function violation(value: unknown, name: string, rule: Rule): string {
  const { describe = show } = rule;
  const shown = rule.isSecret && value !== "" ? kindOf(value) : describe(value);
  return `${name} must be ${rule.expected}, received ${shown}`;
}

function unknownOption(
  key: string,
  prefix: string,
  names: readonly string[],
): string {
  const meant = closest(key, names);
  const hint = meant === undefined ? "." : `; did you mean ${meant}?`;
  const known = names.join(", ") || "none";
  return `unknown option ${show(prefix + key)}${hint} Known options: ${known}`;
}

/**
 * Returns the known name that is closest to a typo.
 *
 * @param most The maximum number of wrong letters. Default: a third of them, and
 * at most 3.
 */
export function closest(
  key: string,
  names: readonly string[],
  most = Math.min(3, Math.ceil(plain(key).length / 3)),
): string | undefined {
  const typo = plain(key);
  let best: string | undefined;
  let least = most + 1;
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
