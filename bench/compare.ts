/**
 * Side-by-side benchmarks: the candidates take turns in one process, so that
 * whatever else the machine does hits all of them, and medians are compared.
 *
 * @module
 */

/** What one candidate took, in nanoseconds an operation. */
export interface Measurement {
  readonly name: string;
  readonly median: number;
  /** Compared with the first candidate. */
  readonly ratio: number;
}

/** How long to measure. */
export interface CompareOptions {
  /** Operations that one call of a candidate does. Default 1. */
  readonly operations?: number;
  /** Turns that each candidate gets. Default 101. */
  readonly turns?: number;
  /** Calls in a turn. Default 10. */
  readonly calls?: number;
}

/** Measures candidates; the first one is what the others are compared with. */
export async function compare(
  candidates: Readonly<Record<string, () => unknown>>,
  options: CompareOptions = {},
): Promise<Measurement[]> {
  const { operations = 1, turns = 101, calls = 10 } = options;
  const entries = Object.entries(candidates);
  const samples = new Map<string, number[]>(
    entries.map(([name]) => [name, []]),
  );
  // The first tenth warms up.
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

/** The middle of a list of numbers. */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/**
 * Prints throughputs, and their ratios to those of some of the candidates. A
 * ratio is the median of the rounds' ratios, since a round's candidates share
 * the state of the machine.
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

/** The median ratio of two candidates' rounds. */
export function ratioOf(
  values: readonly number[],
  references: readonly number[],
): number {
  return medianOf(values.map((value, round) => value / references[round]!));
}
