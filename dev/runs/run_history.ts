import {
  compareRoute,
  differenceText,
  type RouteComparison,
} from "./compare.ts";
import type { EarlierRun } from "./past.ts";
import { type RouteSamples, RunSamples } from "./samples.ts";

/** A run with its requests. */
interface RecordedRun {
  readonly start: number;
  /** The files that have changed before it. */
  changed: readonly string[];
  readonly samples: RunSamples;
}

/** A route of a run, compared with the last run before that had it. */
export interface Comparison extends RouteComparison {
  /** The start of the other run, in epoch milliseconds. */
  readonly previous: number;
  /** The files that were saved between the two, the latest first. */
  readonly changed: readonly string[];
  /** The difference in words. Empty if there is none. */
  readonly difference: string;
}

/** A run, as the API returns it. */
export interface RunRecord extends Pick<EarlierRun, "start" | "changed"> {
  /** Its routes that an earlier run had too. */
  readonly comparisons: readonly Comparison[];
}

/** The requests of all runs. */
export class RunHistory {
  readonly #earlier: RecordedRun[] = [];
  /** The present run. */
  readonly present: RecordedRun;
  /** Earlier runs don't change once all of them are known. */
  #records: readonly RunRecord[] | undefined;

  /** @param start The start of the present run, in epoch milliseconds. */
  constructor(start: number) {
    this.present = { start, changed: [], samples: new RunSamples() };
  }

  /** Returns the requests of an earlier run. Runs are added in their order. */
  of({ start, changed, isCut }: EarlierRun): RunSamples {
    let run = this.#earlier.at(-1);
    if (run?.start !== start) {
      run = { start, changed, samples: new RunSamples(isCut) };
      this.#earlier.push(run);
    }
    return run.samples;
  }

  /** Returns all runs, the present one first. Call it after the last `of()`. */
  list(): RunRecord[] {
    const last = this.#earlier.length;
    this.#records ??= this.#earlier.map((run, i) => this.#record(run, i));
    return [...this.#records, this.#record(this.present, last)].reverse();
  }

  #record({ start, changed, samples }: RecordedRun, index: number): RunRecord {
    const comparisons = [...samples.routes.values()]
      .map((route) => this.compare(route, index))
      .filter((comparison) => comparison !== undefined);
    return { start, changed, comparisons };
  }

  /**
   * Compares a route of a run with the last run before that had it.
   *
   * @param index The index of the run. Default: the present one.
   */
  compare(
    after: RouteSamples,
    index: number = this.#earlier.length,
  ): Comparison | undefined {
    const { route, status } = after;
    const changed: string[] = [];
    for (let i = index; i > 0; i--) {
      changed.push(...(this.#earlier[i] ?? this.present).changed);
      const { start: previous, samples } = this.#earlier[i - 1]!;
      const before = samples.of(route, status);
      if (before === undefined || before.samples.length === 0) continue;
      const compared = compareRoute(before, after);
      const files = [...new Set(changed)];
      // Without a saved file, the data or the machine is the cause.
      const verdict = files.length === 0 ? "same" : compared.verdict;
      const difference = verdict === "same" ? "" : differenceText(compared);
      return { ...compared, verdict, previous, changed: files, difference };
    }
    return undefined;
  }
}
