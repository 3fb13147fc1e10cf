/**
 * Checks of the options of tracing: a wrong one is told where it was given, not
 * by the first request.
 *
 * @module
 */

import { show } from "../app/internal/show.ts";

/**
 * Refuses an option.
 *
 * @param doing What can't be done with it, such as `create tracer`.
 * @param what The option and what it must be.
 * @param value What it is.
 * @throws {TypeError} Always.
 */
export function refuseOption(
  doing: string,
  what: string,
  value: unknown,
): never {
  throw new TypeError(`Cannot ${doing}: ${what}, received ${show(value)}`);
}

/** @throws {TypeError} If `value` is not a positive integer. */
export function checkCount(doing: string, name: string, value: unknown): void {
  if (Number.isSafeInteger(value) && value as number > 0) return;
  refuseOption(doing, `${name} must be a positive integer`, value);
}

/** @throws {TypeError} If `value` is not a number from 0 up. */
export function checkDuration(
  doing: string,
  name: string,
  value: unknown,
): void {
  if (typeof value === "number" && value >= 0) return;
  refuseOption(doing, `${name} must be 0 or more milliseconds`, value);
}

/** @throws {TypeError} If `value` is there and not a function. */
export function checkFunction(
  doing: string,
  name: string,
  value: unknown,
): void {
  if (value === undefined || typeof value === "function") return;
  refuseOption(doing, `${name} must be a function`, value);
}

/** @throws {TypeError} If `value` is there and lacks one of these methods. */
export function checkMethods(
  doing: string,
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
  refuseOption(doing, `${name} must have ${list}`, value);
}
