/**
 * Checks of what provider factories are given, in the kit's grammar of errors.
 *
 * @module
 */

import type { Rules } from "../../core/check/check_options.ts";
import { findProblem } from "../../core/check/check_options.ts";
import { kindOf, show } from "../../core/check/show.ts";
import { AuthError } from "../error.ts";

/** What a factory throws of a setting. */
export function providerError(label: string, problem: string): AuthError {
  return new AuthError("CONFIG", `Cannot create ${label} provider: ${problem}`);
}

/** Throws unless a setting is what it must be, and tells what it is. */
export type Check = (
  isRight: boolean,
  name: string,
  expected: string,
  value: unknown,
  shown?: string,
) => void;

/**
 * Makes the checks of a factory.
 *
 * @param label Names the provider in errors, such as `GitHub`.
 */
export function createCheck(label: string): Check {
  return (isRight, name, expected, value, shown = show(value)) => {
    if (isRight) return;
    throw providerError(
      label,
      `${name} must be ${expected}, received ${shown}`,
    );
  };
}

/**
 * Checks the names of a factory's options, or of options within one of them.
 *
 * @param label The provider's name in error messages.
 * @throws {AuthError} `CONFIG` if a name is unknown.
 */
export function checkNames(
  label: string,
  options: unknown,
  known: Rules,
  name = "options",
): void {
  const problem = findProblem(options, known, name);
  if (problem !== undefined) throw providerError(label, problem);
}

/** Checks a setting that is a secret, of which nothing is told but its type. */
export function checkSecret(check: Check, name: string, value: unknown): void {
  const shown = value === "" ? '""' : kindOf(value);
  check(isText(value), name, "a non-empty string", value, shown);
}

/** Whether it is a text that says something. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Checks a name that all providers have. */
export function checkName(
  check: Check,
  name: "id" | "name",
  value: unknown,
): asserts value is string {
  check(isText(value), name, "a non-empty string", value);
}
