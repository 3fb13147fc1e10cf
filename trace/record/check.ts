/**
 * Checks of the options of tracing: a wrong one is told where it was given, not
 * by the first request.
 *
 * @module
 */

import { show } from "../../core/check/show.ts";

/**
 * Refuses an option.
 *
 * @param operation What can't be done with it, such as `create tracer`.
 * @param what The option and what it must be.
 * @param value What it is.
 * @throws {TypeError} Always.
 */
export function refuseOption(
  operation: string,
  what: string,
  value: unknown,
): never {
  throw new TypeError(`Cannot ${operation}: ${what}, received ${show(value)}`);
}

/** @throws {TypeError} If `value` is not a positive integer. */
export function checkCount(
  operation: string,
  name: string,
  value: unknown,
): void {
  if (Number.isSafeInteger(value) && value as number > 0) return;
  refuseOption(operation, `${name} must be a positive integer`, value);
}

/** @throws {TypeError} If `value` is not a number from 0 up. */
export function checkDuration(
  operation: string,
  name: string,
  value: unknown,
): void {
  if (typeof value === "number" && value >= 0) return;
  refuseOption(operation, `${name} must be 0 or more milliseconds`, value);
}

/** @throws {TypeError} If `value` is there and not a function. */
export function checkFunction(
  operation: string,
  name: string,
  value: unknown,
): void {
  if (value === undefined || typeof value === "function") return;
  refuseOption(operation, `${name} must be a function`, value);
}

/** @throws {TypeError} If `value` is there and lacks one of these methods. */
export function checkMethods(
  operation: string,
  name: string,
  value: unknown,
  methods: readonly string[],
): void {
  const object = Object(value) as Record<string, unknown>;
  if (
    value === undefined ||
    methods.every((method) => typeof object[method] === "function")
  ) return;
  const list = methods.map((method) => `${method}()`).join(" and ");
  refuseOption(operation, `${name} must have ${list}`, value);
}
