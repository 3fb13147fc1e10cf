/**
 * Compares what work costs for 10 KB of text with what it costs for 100 KB.
 * Linear work costs 10 times as much, quadratic work 100 times.
 *
 * @module
 */

import { assert } from "@std/assert";

/** Characters of the short text, and of the long one. */
export const SHORT = 10_000;
/** Ten times {@linkcode SHORT}. */
export const LONG = 10 * SHORT;

/** The growth from which on work isn't linear. */
const LIMIT = 20;
/** What takes less for the long text can't stop a server, in milliseconds. */
const FLOOR = 4;
/** Another process may have taken the time of a measurement. */
const ATTEMPTS = 4;

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
 * Asserts that the cost of work is proportional to the text's length. Both are
 * measured in turn, and the fastest run of each counts.
 */
export async function assertLinear<Input>(
  name: string,
  { prepare, run, lengths = [SHORT, LONG] }: Work<Input>,
): Promise<void> {
  const [short, long] = lengths;
  const limit = LIMIT * (long / short) / (LONG / SHORT);
  const fastest = { short: Infinity, long: await time(prepare(long), run) };
  if (fastest.long < FLOOR) return;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    for (let i = 0; i < 3; i++) {
      fastest.short = Math.min(fastest.short, await time(prepare(short), run));
    }
    fastest.long = Math.min(fastest.long, await time(prepare(long), run));
    if (fastest.long < FLOOR || fastest.long < limit * fastest.short) return;
  }
  const growth = (fastest.long / fastest.short).toFixed(1);
  assert(
    false,
    `${name}: ${long} characters cost ${growth} times what ${short} cost`,
  );
}

async function time<Input>(
  input: Input,
  run: (input: Input) => unknown,
): Promise<number> {
  const start = performance.now();
  const result = run(input);
  if (result instanceof Promise) await result;
  return performance.now() - start;
}
