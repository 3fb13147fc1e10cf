import { show } from "./show.ts";

/**
 * The longest time that a timer can wait, in milliseconds: almost 25 days. One
 * that is told to wait longer fires after 1 ms (Node and Deno), or after what
 * is left of the number in 32 bits (browsers).
 */
export const MAX_DELAY = 2 ** 31 - 1;

/** What a time that a timer is set to may be. */
export interface DurationRule {
  /** The unit in which it is given. */
  readonly unit: "seconds" | "milliseconds";
  /** Whether it may be 0. Default `false`. */
  readonly zero?: boolean;
  /** Whether it may be `Infinity`, for no timer at all. Default `false`. */
  readonly endless?: boolean;
}

/**
 * Checks a time that a timer is set to.
 *
 * @param value The time.
 * @param name What it is called.
 * @param operation What can't be done with a wrong one, such as `create cache`.
 * @param rule What it may be.
 * @returns Whole milliseconds, 1 or more unless it is 0; or `Infinity`.
 * @throws {TypeError} If it is not what it may be.
 */
export function readDuration(
  value: unknown,
  name: string,
  operation: string,
  { unit, zero = false, endless = false }: DurationRule,
): number {
  const size = unit === "seconds" ? 1_000 : 1;
  if (typeof value !== "number" || !(value > 0 || (zero && value === 0))) {
    throw new TypeError(
      `Cannot ${operation}: ${name} must be a number of ${unit}${
        zero ? ", 0 or more" : " above 0"
      }, received ${show(value)}`,
    );
  }
  if (endless && value === Infinity) return value;
  const ms = value * size;
  if (ms > MAX_DELAY) {
    throw new TypeError(
      `Cannot ${operation}: ${name} must be at most ${
        Math.floor(MAX_DELAY / size)
      } ${unit}, which is as long as a timer can wait${
        endless ? ", or Infinity" : ""
      }, received ${value}`,
    );
  }
  return value === 0 ? 0 : Math.max(1, Math.round(ms));
}
