/**
 * Compares what work costs for 10 KB of text with what it costs for 100 KB.
 * Linear work costs 10 times as much, quadratic work 100 times.
 *
 * @module
 */

import process from "node:process";
import { assert } from "@std/assert";

/** Characters of the short text, and of the long one. */
export const SHORT = 10_000;
/** Ten times {@linkcode SHORT}. */
export const LONG = 10 * SHORT;

/** The growth from which on work isn't linear. */
const LIMIT = 20;
/** What takes less for the long text can't stop a server, in milliseconds. */
const FLOOR = 10;
/** A measurement may have had to collect garbage or compile. */
const ATTEMPTS = 6;

/** Something that is done with a text. */
export interface Work<Input> {
  /** Makes the input; what this costs doesn't count. */
  readonly prepare: (length: number) => Input;
  /** Does the work. */
  readonly run: (input: Input) => unknown;
  /** The sizes to compare, where a limit forbids the usual ones. */
  readonly lengths?: readonly [short: number, long: number];
}

/**
 * Asserts that the cost of work is proportional to the text's length. A long
 * text is compared with as many short ones as are together as long, and the
 * least of several measurements counts.
 */
export async function assertLinear<Input>(
  name: string,
  { prepare, run, lengths = [SHORT, LONG] }: Work<Input>,
): Promise<void> {
  const [short, long] = lengths;
  const count = Math.round(long / short);
  const limit = LIMIT / (LONG / SHORT);
  let least = Infinity;
  let leastOfMany = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    least = Math.min(least, await time([prepare(long)], run));
    if (least < FLOOR) return;
    const many = Array.from({ length: count }, () => prepare(short));
    leastOfMany = Math.min(leastOfMany, await time(many, run));
    if (least < limit * leastOfMany) return;
  }
  const growth = (least / leastOfMany * count).toFixed(1);
  assert(
    false,
    `${name}: ${long} characters cost ${growth} times what ${short} cost`,
  );
}

/** Milliseconds that this process worked; others don't add to it. */
async function time<Input>(
  inputs: readonly Input[],
  run: (input: Input) => unknown,
): Promise<number> {
  const start = process.cpuUsage();
  for (const input of inputs) {
    const result = run(input);
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
