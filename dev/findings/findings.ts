/**
 * Looks for causes in the traces of a tracer, a moment after they have changed.
 *
 * ```
 * trace:end, trace:update ──► ids ── 0.2 s ──► units ──► history
 *                                                └─────► rules ──► causes
 * ```
 *
 * @module
 */

import { printableError } from "../../core/redact/printable.ts";
import type { Finding } from "../../trace/finding.ts";
import type { TraceData, Tracer } from "../../trace/types.ts";
import { Delay } from "../delay.ts";
import { createCauses } from "./causes.ts";
import { evidenceIn } from "./rules.ts";
import { createHistory } from "./history.ts";
import { unitsOf } from "./units.ts";

/** The time from a change to the look at it, in milliseconds. */
const DELAY = 200;
/** The pause between two parts of a long queue, in milliseconds. */
const PAUSE = 20;
/** Maximum traces that are looked at without a pause. */
const BATCH = 50;
/** Maximum traces that wait. A busy server's others aren't looked at. */
const MAX_WAITING = 1_000;

/** The findings of a tracer. */
export type Findings = ReturnType<typeof createFindings>;

/**
 * Looks for causes in the traces of a tracer.
 *
 * @param delay The time from a change to the look at it, in milliseconds.
 */
export function createFindings(tracer: Tracer, delay = DELAY) {
  const { addEvidence, of, ...causes } = createCauses();
  const history = createHistory();
  const waiting = new Set<string>();
  const next = new Delay(lookSafely);

  const unsubscribe = tracer.subscribe((event) => {
    if (event.type === "trace:end") wait(event.trace.id);
    else if (event.type === "trace:update") wait(event.traceId);
  }, ["trace:end", "trace:update"]);

  function wait(id: string): void {
    if (waiting.size < MAX_WAITING) waiting.add(id);
    next.start(delay);
  }

  function lookSafely(): void {
    try {
      look();
    } catch (error) {
      // Otherwise it would end the process of the app.
      console.error("Cannot look for causes:", printableError(error));
    }
    if (waiting.size > 0) next.start(PAUSE);
  }

  function look(): void {
    const traces = new Map<string, TraceData>();
    for (const id of [...waiting].slice(0, BATCH)) {
      waiting.delete(id);
      const trace = tracer.getTrace(id);
      if (trace !== undefined) traces.set(trace.id, trace);
    }
    const looked = Array.from(traces.values(), (trace) => {
      const units = unitsOf(trace);
      return { trace, units, added: units.filter((unit) => history.add(unit)) };
    });
    // All are known by now, so that those at the same time count.
    for (const { added } of looked) {
      added.forEach((unit) => history.addTimes(unit));
    }
    for (const { trace, units, added } of looked) {
      const evidence = evidenceIn(trace, units, history);
      addEvidence(trace, evidence, new Set(added.map(({ route }) => route)));
    }
  }

  return {
    ...causes,

    /** Returns the findings of one trace. */
    of(traceId: string): Finding[] {
      // A linked trace may have been joined to another one.
      const { id = traceId } = tracer.getTrace(traceId) ?? {};
      return of(new Set([traceId, id]));
    },

    /** Looks at the traces that wait, because the process ends. */
    lookNow(): void {
      while (waiting.size > 0) {
        next.cancel();
        lookSafely();
      }
    },

    /** Ends the look at traces. */
    close(): void {
      unsubscribe();
      next.cancel();
    },
  };
}
