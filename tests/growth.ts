/**
 * Compares the time of work on 10 KB of text with its time on 100 KB. Linear
 * work takes 10 times as long, quadratic work 100 times.
 *
 * @module
 */

import process from "node:process";
import { assert } from "@std/assert";

/** Characters of the short text. */
export const SHORT = 10_000;
/** Ten times {@linkcode SHORT}. */
export const LONG = 10 * SHORT;

/** Work that grows by more than this factor isn't linear. */
const LIMIT = 20;
/** Work below this time is harmless at any growth, in milliseconds. */
const FLOOR = 10;
/** Maximum attempts: garbage collection or a busy machine may add time. */
const ATTEMPTS = 12;

/** Work on a text. */
export interface Work<Input> {
  /** Creates the input. Its time doesn't count. */
  readonly prepare: (length: number) => Input;
  readonly run: (input: Input) => unknown;
  /** The lengths to compare if a limit forbids the usual ones. */
  readonly lengths?: readonly [short: number, long: number];
  /** Default: {@linkcode ATTEMPTS}. */
  readonly attempts?: number;
}

/**
 * Asserts that work takes linear time. It compares one long text with short
 * texts of the same total length. The smallest of several measurements counts.
 * Work that is harmless even if it were quadratic needs no long text.
 */
export async function assertLinear<Input>(
  name: string,
  { prepare, run, lengths = [SHORT, LONG], attempts = ATTEMPTS }: Work<Input>,
): Promise<void> {
  const [short, long] = lengths;
  const count = Math.round(long / short);
  const limit = LIMIT / (LONG / SHORT);
  // The first run may wait for a compiler.
  for (let i = 0; i < 2; i++) {
    const one = prepare(short);
    const start = performance.now();
    await run(one);
    if ((performance.now() - start) * count ** 2 < FLOOR) return;
  }
  let least = Infinity;
  let leastOfMany = Infinity;
  for (let attempt = 0; attempt < attempts; attempt++) {
    least = Math.min(least, await cpuTime([prepare(long)], run));
    if (least < FLOOR) return;
    const many = Array.from({ length: count }, () => prepare(short));
    leastOfMany = Math.min(leastOfMany, await cpuTime(many, run));
    if (least < limit * leastOfMany) return;
  }
  const growth = (least / leastOfMany * count).toFixed(1);
  assert(
    false,
    `${name}: ${long} characters cost ${growth} times what ${short} cost`,
  );
}

/**
 * Returns the CPU time of this process for work on some inputs, in milliseconds.
 * A machine that stalls adds nothing.
 */
export async function cpuTime<Input>(
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
