/**
 * Finds leaks by the bytes that repeated work leaves in memory.
 *
 * A leak grows in every round. Code that V8 compiles late, its inline caches and
 * an allocator's reserves grow now and then, so the least growth counts:
 *
 * ```
 *   rounds  1     2           4                       8
 *           ├─────┼───────────┼───────────────────────┤
 *   growth   by 1     by 2              by 4 rounds
 * ```
 *
 * Each part doubles the number of rounds. So a table that grows only by doubling
 * its size grows in every part too.
 *
 * @module
 */

/** The numbers of rounds after which memory is measured. */
export const MEASURED_AFTER: readonly number[] = [1, 2, 4, 8];

/** Runs rounds of work, and measures after some of them. */
export async function measureRounds<Size>(
  round: () => unknown,
  measure: () => Size | Promise<Size>,
): Promise<Size[]> {
  const sizes: Size[] = [];
  let rounds = 0;
  for (const count of MEASURED_AFTER) {
    for (; rounds < count; rounds++) await round();
    sizes.push(await measure());
  }
  return sizes;
}

/**
 * Returns the least growth per round, in bytes.
 *
 * @param sizes The result of {@linkcode measureRounds}.
 */
export function leastGrowth(sizes: readonly number[]): number {
  const growths = sizes.slice(1).map((size, i) =>
    (size - sizes[i]!) / (MEASURED_AFTER[i + 1]! - MEASURED_AFTER[i]!)
  );
  return Math.min(...growths);
}

/**
 * Returns the bytes of the heap in use. Needs `--v8-flags=--expose-gc`.
 *
 * One garbage collection may leave some behind, so the least of several counts.
 */
export async function heapInUse(): Promise<number> {
  const { gc } = globalThis as unknown as { gc(): void };
  const sizes: number[] = [];
  for (let i = 0; i < 5; i++) {
    // A WeakRef keeps its target alive until the current job ends.
    await new Promise((resolve) => setTimeout(resolve));
    gc();
    sizes.push(Deno.memoryUsage().heapUsed);
  }
  return Math.min(...sizes);
}

/** Returns the least growth of the heap in a round of work, in bytes. */
export async function heapGrowth(round: () => unknown): Promise<number> {
  return leastGrowth(await measureRounds(round, heapInUse));
}
