import type { TraceRecord } from "./trace_record.ts";

/**
 * The traces that have not ended, oldest first.
 *
 * A doubly linked list through the traces themselves. A `Set` would do the
 * same, but it has to give each trace a hash, which costs a request as much as
 * a span does.
 *
 * ```
 * #oldest → trace ⇄ trace ⇄ trace ← #newest
 *             older ←     → newer
 * ```
 */
export class RunningTraces implements Iterable<TraceRecord> {
  #oldest: TraceRecord | undefined;
  #newest: TraceRecord | undefined;
  #size = 0;

  /** How many there are. */
  get size(): number {
    return this.#size;
  }

  /** The one that began first. */
  get oldest(): TraceRecord | undefined {
    return this.#oldest;
  }

  /** Adds a trace that has just begun. */
  add(trace: TraceRecord): void {
    trace.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = trace;
    else this.#newest.newer = trace;
    this.#newest = trace;
    this.#size++;
  }

  /** Takes out a trace that was added. */
  remove(trace: TraceRecord): void {
    const { older, newer } = trace;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    trace.older = trace.newer = undefined;
    this.#size--;
  }

  /** The traces, oldest first. */
  *[Symbol.iterator](): Iterator<TraceRecord> {
    for (let trace = this.#oldest; trace !== undefined; trace = trace.newer) {
      yield trace;
    }
  }
}
