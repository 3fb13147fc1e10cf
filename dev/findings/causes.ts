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

/** Creates an empty list of causes, for one tracer. */
export function createCauses() {
  const causes = new Map<string, Cause>();
  /** The findings of each trace, by cause. */
  const byTrace = new GenerationMap<string, Map<string, Finding>>({
    maxSize: MAX_TRACES,
  });
  const listeners = new Set<(finding: Finding) => void>();

  function put(key: string, finding: Finding): void {
    const ofTrace = byTrace.get(finding.traceId) ?? new Map();
    const isKnown = ofTrace.has(key);
    const cause = causes.get(key);
    const count = (cause?.finding.count ?? 0) +
      (isKnown && cause ? 0 : finding.count);
    const counted = { ...finding, count };
    ofTrace.set(key, counted);
    // A promise may be rejected outside of any request.
    if (finding.traceId !== "") byTrace.set(finding.traceId, ofTrace);
    // The cause that wasn't seen for the longest time goes first.
    causes.delete(key);
    causes.set(key, { finding: counted, absent: 0 });
    const [oldest] = causes.keys();
    if (causes.size > MAX_CAUSES) causes.delete(oldest!);
    if (cause === undefined || cause.absent >= GONE_AFTER) emit(counted);
  }

  function emit(finding: Finding): void {
    for (const listener of listeners) {
      try {
        listener(finding);
      } catch (error) {
        console.error("A listener of findings threw:", printableError(error));
      }
    }
  }

  return {
    /** Returns the last finding of each cause, the newest first. */
    list: (): Finding[] =>
      Array.from(causes.values(), ({ finding }) => finding).sort(byTime),

    /** Returns the findings of a trace with several ids, the newest first. */
    of(traceIds: Iterable<string>): Finding[] {
      const found = new Map<string, Finding>();
      for (const id of traceIds) {
        for (const [key, finding] of byTrace.get(id) ?? []) {
          found.set(key, finding);
        }
      }
      return [...found.values()].sort(byTime);
    },

    /**
     * Calls `listener` with each new cause, and with each that comes back after it
     * was gone.
     *
     * @returns A function that ends it.
     */
    subscribe(listener: (finding: Finding) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    /**
     * Adds the evidence in a trace.
     *
     * @param routes The routes of the requests that it is the first look at.
     */
    addEvidence(
      trace: TraceData,
      evidence: readonly Evidence[],
      routes: ReadonlySet<string>,
    ): void {
      const present = new Set<string>();
      for (const item of evidence) {
        const key = keyOf(item.rule, item.route, item.shape);
        present.add(key);
        put(key, findingOf(trace, item));
      }
      for (const [key, cause] of causes) {
        const { route = "" } = cause.finding;
        if (!present.has(key) && routes.has(route)) cause.absent++;
      }
    },

    /** Adds a finding from elsewhere. */
    add(finding: Finding): void {
      const { rule, route = "", message, location } = finding;
      // The messages of errors vary, as in `no user 7`.
      const isError = rule !== "slower-route" && location !== undefined;
      put(keyOf(rule, route, isError ? location : message), finding);
    },
  };
}

/** Orders findings, the newest first. */
function byTime(a: Finding, b: Finding): number {
  return b.time - a.time;
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
