/**
 * Side-by-side benchmarks. The candidates take turns in one process, so other
 * work on the machine affects all of them. Medians are compared.
 *
 * @module
 */

/** The time of one candidate, in nanoseconds per operation. */
export interface Measurement {
  readonly name: string;
  readonly median: number;
  /** The ratio to the first candidate's time. */
  readonly ratio: number;
}

/** The length of a measurement. */
export interface CompareOptions {
  /** Operations in one call of a candidate. Default: 1. */
  readonly operations?: number;
  /** Turns of each candidate. Default: 101. */
  readonly turns?: number;
  /** Calls in a turn. Default: 10. */
  readonly calls?: number;
}

/** Measures candidates, and compares them with the first one. */
export async function compare(
  candidates: Readonly<Record<string, () => unknown>>,
  options: CompareOptions = {},
): Promise<Measurement[]> {
  const { operations = 1, turns = 101, calls = 10 } = options;
  const entries = Object.entries(candidates);
  const samples = new Map<string, number[]>(
    entries.map(([name]) => [name, []]),
  );
  // The first tenth is a warm-up.
  for (let turn = -Math.ceil(turns / 10); turn < turns; turn++) {
    for (const [name, run] of entries) {
      const begin = performance.now();
      for (let i = 0; i < calls; i++) {
        const result = run();
        if (result instanceof Promise) await result;
      }
      const time = performance.now() - begin;
      if (turn >= 0) {
        samples.get(name)!.push(time * 1e6 / (calls * operations));
      }
    }
  }
  const medians = entries.map(([name]) => ({
    name,
    median: medianOf(samples.get(name)!),
  }));
  return medians.map((entry) => ({
    ...entry,
    ratio: entry.median / medians[0]!.median,
  }));
}

/** Prints measurements as a table. */
export function print(
  title: string,
  measurements: readonly Measurement[],
): void {
  const width = Math.max(...measurements.map(({ name }) => name.length));
  console.log(`\n${title}`);
  for (const { name, median, ratio } of measurements) {
    console.log(
      `  ${name.padEnd(width)}  ${median.toFixed(0).padStart(9)} ns  ${
        ratio.toFixed(2).padStart(7)
      } ×`,
    );
  }
}

/** Returns the median of numbers. */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/**
 * Prints throughputs, and their ratios to some of the candidates. A ratio is
 * the median of the rounds' ratios, because the candidates of a round share the
 * state of the machine.
 */
export function printRates(
  title: string,
  rates: ReadonlyMap<string, readonly number[]>,
  references: readonly string[],
): void {
  const width = Math.max(...[...rates.keys()].map(({ length }) => length));
  console.log(`\n${title}`);
  const columns = references.map((name) => `/ ${name}`);
  console.log(
    `  ${"".padEnd(width)}   a second   ${columns.join("   ")}`,
  );
  for (const [name, values] of rates) {
    const ratios = references.map((reference, column) =>
      ratioOf(values, rates.get(reference)!).toFixed(2)
        .padStart(columns[column]!.length)
    );
    console.log(
      `  ${name.padEnd(width)}  ${medianOf(values).toFixed(0).padStart(9)}   ${
        ratios.join("   ")
      }`,
    );
  }
}

/** Returns the median ratio of two candidates' rounds. */
export function ratioOf(
  values: readonly number[],
  references: readonly number[],
): number {
  return medianOf(values.map((value, round) => value / references[round]!));
}
