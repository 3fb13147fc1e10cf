/**
 * The known causes. The same cause in several traces is one finding.
 *
 * @module
 */

import { GenerationMap } from "../../core/collections/generation_map.ts";
import { printableError } from "../../core/redact/printable.ts";
import type { Finding } from "../../trace/finding.ts";
import type { TraceData } from "../../trace/types.ts";
import { shortLocation } from "../locations/short_location.ts";
import type { Evidence } from "./rule.ts";
import { messageText } from "./texts.ts";

/** Maximum causes. */
const MAX_CAUSES = 200;
/** Maximum traces whose findings are known. */
const MAX_TRACES = 2_000;
/** Maximum spans of a finding. */
const MAX_SPANS = 50;
/** Requests of a route without a cause after which it is gone. */
const GONE_AFTER = 10;

/** A cause, with its last evidence. */
interface Cause {
  finding: Finding;
  /** The requests of its route that were without it, since the last one. */
  absent: number;
}

/** The causes of one tracer. */
export class Causes {
  readonly #causes = new Map<string, Cause>();
  /** The findings of each trace, by cause. */
  readonly #byTrace = new GenerationMap<string, Map<string, Finding>>({
    maxSize: MAX_TRACES,
  });
  readonly #listeners = new Set<(finding: Finding) => void>();

  /** Returns the last finding of each cause, the newest first. */
  list(): Finding[] {
    return Array.from(this.#causes.values(), ({ finding }) => finding)
      .sort((a, b) => b.time - a.time);
  }

  /** Returns the findings of a trace with several ids, the newest first. */
  of(traceIds: Iterable<string>): Finding[] {
    const found = new Map<string, Finding>();
    for (const id of traceIds) {
      for (const [key, finding] of this.#byTrace.get(id) ?? []) {
        found.set(key, finding);
      }
    }
    return [...found.values()].sort((a, b) => b.time - a.time);
  }

  subscribe(listener: (finding: Finding) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Adds the evidence in a trace.
   *
   * @param routes The routes of the requests that it is the first look at.
   */
  add(
    trace: TraceData,
    evidence: readonly Evidence[],
    routes: ReadonlySet<string>,
  ): void {
    const present = new Set<string>();
    for (const item of evidence) {
      const key = keyOf(item.rule, item.route, item.shape);
      present.add(key);
      this.#put(key, findingOf(trace, item));
    }
    for (const [key, cause] of this.#causes) {
      if (present.has(key) || !routes.has(cause.finding.route ?? "")) continue;
      cause.absent++;
    }
  }

  /** Adds a finding from elsewhere. */
  put(finding: Finding): void {
    const { rule, route = "", message, location } = finding;
    // The messages of errors vary, as in `no user 7`.
    const isError = rule !== "slower-route" && location !== undefined;
    this.#put(keyOf(rule, route, isError ? location : message), finding);
  }

  #put(key: string, finding: Finding): void {
    const ofTrace = this.#byTrace.get(finding.traceId) ?? new Map();
    const isKnown = ofTrace.has(key);
    const cause = this.#causes.get(key);
    const count = (cause?.finding.count ?? 0) +
      (isKnown && cause ? 0 : finding.count);
    const counted = { ...finding, count };
    ofTrace.set(key, counted);
    // A promise may be rejected outside of any request.
    if (finding.traceId !== "") this.#byTrace.set(finding.traceId, ofTrace);
    // The cause that wasn't seen for the longest time goes first.
    this.#causes.delete(key);
    this.#causes.set(key, { finding: counted, absent: 0 });
    const [oldest] = this.#causes.keys();
    if (this.#causes.size > MAX_CAUSES) this.#causes.delete(oldest!);
    if (cause === undefined || cause.absent >= GONE_AFTER) this.#emit(counted);
  }

  #emit(finding: Finding): void {
    for (const listener of this.#listeners) {
      try {
        listener(finding);
      } catch (error) {
        console.error("A listener of findings threw:", printableError(error));
      }
    }
  }
}

function keyOf(rule: string, route: string, shape: string): string {
  return `${rule}\n${route}\n${shape}`;
}

function findingOf({ id }: TraceData, evidence: Evidence): Finding {
  const { rule, message, route, spans } = evidence;
  const location = shortLocation(spans[0]!);
  return {
    rule,
    message: messageText(message),
    ...(location !== undefined && { location }),
    route,
    traceId: id,
    spanIds: spans.slice(0, MAX_SPANS).map(({ id }) => id),
    time: Math.max(...spans.map(({ endTime }) => endTime)),
    count: 1,
  };
}
