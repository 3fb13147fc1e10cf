import { countBelow } from "../../core/collections/count_below.ts";
import { percentile } from "../../trace/export/percentile.ts";
import type { SpanData } from "../../trace/types.ts";

/** The least number of earlier requests to compare with. */
const MIN_HISTORY = 20;
/** Maximum earlier requests. */
const MAX_HISTORY = 200;
/** The number of slow requests in a row. One may have other reasons. */
const MIN_SLOW = 3;
/** The number of slow requests in a row that become the usual duration. */
const MAX_SLOW = 30;
/** The least difference to the median, in milliseconds. */
const MIN_DIFFERENCE = 100;

/** Requests in a row that take longer than usual. */
export interface Slowdown {
  /** The median of the requests before them, in milliseconds. */
  readonly usual: number;
  /** Their durations, in milliseconds. */
  readonly durations: readonly number[];
}

/** The durations of the requests of a route. */
export class RouteTimes {
  /** The usual durations in order of time. */
  #usual: number[] = [];
  /** The same, ascending. */
  #sorted: number[] = [];
  #slow: SpanData[] = [];

  /** Adds the latest request. */
  add(root: SpanData): void {
    if (root.duration > this.#limit()) {
      this.#slow.push(root);
      if (this.#slow.length < MAX_SLOW) return;
      this.#usual = this.#slow.map(({ duration }) => duration);
      this.#sorted = this.#usual.toSorted((a, b) => a - b);
    } else this.#addUsual(root.duration);
    this.#slow = [];
  }

  #addUsual(duration: number): void {
    this.#usual.push(duration);
    this.#sorted.splice(countBelow(this.#sorted, duration), 0, duration);
    if (this.#usual.length <= MAX_HISTORY) return;
    const oldest = this.#usual.shift()!;
    this.#sorted.splice(countBelow(this.#sorted, oldest), 1);
  }

  /** Returns the slowdown that a request is part of, if there is one. */
  slowdownOf(root: SpanData): Slowdown | undefined {
    const last = this.#slow.findIndex(({ id }) => id === root.id);
    if (last + 1 < MIN_SLOW) return undefined;
    const durations = this.#slow.slice(0, last + 1)
      .map(({ duration }) => duration);
    return { usual: percentile(this.#sorted, 50), durations };
  }

  #limit(): number {
    if (this.#usual.length < MIN_HISTORY) return Infinity;
    const median = percentile(this.#sorted, 50);
    return Math.max(
      percentile(this.#sorted, 95),
      2 * median,
      median + MIN_DIFFERENCE,
    );
  }
}
