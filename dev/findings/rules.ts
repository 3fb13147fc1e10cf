/**
 * All rules that look at requests and jobs. Other parts add their findings with
 * `Findings.add()`: `unhandled-rejection` and `slower-route`.
 *
 * @module
 */

import { isDetached } from "../../trace/export/semantics.ts";
import type { TraceData } from "../../trace/types.ts";
import type { History } from "./history.ts";
import type { Evidence } from "./rule.ts";
import { exception } from "./rules/exception.ts";
import {
  idleCache,
  repeatedCalls,
  repeatedLookup,
  repeatedQuery,
} from "./rules/repeated.ts";
import { largeResult, slowQuery, slowRequest } from "./rules/slow.ts";
import type { Unit } from "./units.ts";

const RULES = [exception, repeatedQuery, slowQuery, largeResult, idleCache];

/** Returns the evidence in a trace. */
export function evidenceIn(
  { rootSpanId, spans }: TraceData,
  units: readonly Unit[],
  history: History,
): Evidence[] {
  const ofUnits = units.flatMap((unit) => {
    // It waits, polls and repeats its work for as long as it runs.
    if (isDetached(unit.root)) return exception(unit, history);
    const found = RULES.flatMap((rule) => rule(unit, history));
    const known = new Set(found.flatMap(({ spans }) => spans));
    for (const item of repeatedLookup(unit, history)) {
      if (!known.has(item.spans[0]!)) found.push(item);
    }
    // The cause says more than the time that it takes.
    return found.length > 0 ? found : slowRequest(unit, history);
  });
  const root = spans.get(rootSpanId)?.name ?? "";
  return [...ofUnits, ...repeatedCalls(units, root)];
}
