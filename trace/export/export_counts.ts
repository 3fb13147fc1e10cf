/**
 * Counts the outcomes of exported traces.
 *
 * @module
 */

/** Numbers of traces, and of spans where the name says so. */
export interface OTLPExporterStats {
  /** Accepted by the collector. */
  readonly exported: number;
  /** Dropped: the queue was full, or the exporter closed. */
  readonly dropped: number;
  /** Failed: refused, or not accepted at the last attempt. */
  readonly failed: number;
  /** Waiting, or being sent. */
  readonly queued: number;
  /** The traces of `dropped` and `failed`, by reason. */
  readonly lost: {
    /** The queue was full: more traces end than the collector accepts. */
    readonly queueFull: number;
    /** The exporter closed before they were accepted. */
    readonly closed: number;
    /** The collector refused them for good, such as with 400 or 401. */
    readonly rejected: number;
    /** The collector hadn't answered at the last attempt. */
    readonly timeout: number;
    /** The collector was busy or unreachable at the last attempt. */
    readonly unavailable: number;
    /** They can't be written as OTLP. */
    readonly invalid: number;
  };
  /** Spans that the collector refused in traces that it accepted. */
  readonly rejectedSpans: number;
}

/** The outcome of a trace. */
export type Outcome = "exported" | keyof OTLPExporterStats["lost"];

/** Counts outcomes. */
export class ExportCounts {
  readonly #counts: Record<Outcome, number> = {
    exported: 0,
    queueFull: 0,
    closed: 0,
    rejected: 0,
    timeout: 0,
    unavailable: 0,
    invalid: 0,
  };

  /** Adds traces with the same outcome. */
  add(outcome: Outcome, count: number): void {
    this.#counts[outcome] += count;
  }

  /** Returns the numbers so far, with those that aren't counted here. */
  read(queued: number, rejectedSpans: number): OTLPExporterStats {
    const { exported, ...lost } = this.#counts;
    return {
      exported,
      dropped: lost.queueFull + lost.closed,
      failed: lost.rejected + lost.timeout + lost.unavailable + lost.invalid,
      queued,
      lost,
      rejectedSpans,
    };
  }
}
