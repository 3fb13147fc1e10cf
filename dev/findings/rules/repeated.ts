/**
 * Repeated work: one query for each row of another one, or a value that the
 * cache doesn't keep.
 *
 * @module
 */

import {
  attributeText,
  statementOf,
} from "../../../trace/export/attributes.ts";
import { MIN_REPEATS } from "../../../trace/export/trace_facts.ts";
import { statementShape } from "../../../trace/export/statement_shape.ts";
import { workKey } from "../../../trace/export/work_key.ts";
import type { SpanData } from "../../../trace/types.ts";
import { isExpectedMiss } from "../cache_history.ts";
import type { Evidence, Rule } from "../rule.ts";
import { isReading, lineOf, shortStatement } from "../texts.ts";
import type { Unit } from "../units.ts";

/** A query with so many rows reads a large table page by page. */
const PAGE_ROWS = 100;
/**
 * The longest pause within a burst, in milliseconds. Code that polls waits
 * longer.
 */
const PAUSE = 250;

/** Finds statements that run several times at one line without a pause. */
export const repeatedQuery: Rule = ({ route, spans, parentOf }) => {
  const byShape = Map.groupBy(
    spans.filter((span) => isRepeatable(span, parentOf(span))),
    (span) => statementShape(statementOf(span)!),
  );
  return [...byShape].flatMap(([shape, group]): Evidence[] => {
    if (group.length < MIN_REPEATS) return [];
    const byLine = Map.groupBy(group, lineOf);
    return [...byLine].flatMap(([line, group]): Evidence[] => {
      const burst = largestBurst(group);
      if (burst.length < MIN_REPEATS) return [];
      return [{
        rule: "repeated-query",
        shape: `${shape}\n${line}`,
        message: `${burst.length} × ${shortStatement(shape)}`,
        route,
        spans: burst,
      }];
    });
  });
};

function isRepeatable(span: SpanData, parent: SpanData | undefined): boolean {
  const { "db.response.returned_rows": rows = 0 } = span.attributes;
  const statement = statementOf(span) ?? "";
  // Other libraries record a statement of an ORM, and below it the driver's.
  const isSame = parent !== undefined && statementOf(parent) === statement;
  // A loop that writes rows is common, and rarely wrong.
  return isReading(statement) && Number(rows) < PAGE_ROWS && !isSame;
}

/** Finds cache keys that are computed again and again in one request. */
export const repeatedLookup: Rule = (unit) => {
  const { route, spans } = unit;
  const misses = spans.filter((span) =>
    attributeText(span, "app.cache.result") === "miss" &&
    !isExpectedMiss(span, unit)
  );
  const groups = Map.groupBy(misses, (span) => workKey(span, undefined)!);
  return [...groups].flatMap(([shape, group]): Evidence[] => {
    // Look-ups at the same time share one computation.
    const burst = largestBurst(sequenceOf(group));
    if (burst.length < MIN_REPEATS) return [];
    const key = shape.slice(shape.indexOf(":") + 1);
    const message = `${burst.length} × ${key} computed`;
    return [{ rule: "repeated-call", shape, message, route, spans: burst }];
  });
};

/** Finds queries of a page that are called several times without a pause. */
export function repeatedCalls(
  units: readonly Unit[],
  root: string,
): Evidence[] {
  const calls = units.flatMap(({ root, route, spans, parentOf }) =>
    [root, ...spans].flatMap((span) => {
      const key = span.attributes["app.rpc.type"] === "query"
        ? workKey(span, parentOf(span))
        : undefined;
      return key === undefined ? [] : [{ key, span, route }];
    })
  );
  const groups = Map.groupBy(calls, ({ key }) => key);
  return [...groups].flatMap(([shape, group]): Evidence[] => {
    const burst = largestBurst(group.map(({ span }) => span));
    if (burst.length < MIN_REPEATS) return [];
    const routes = new Set(group.map(({ route }) => route));
    const [route = root] = routes.size === 1 ? routes : [];
    const name = shape.slice(shape.indexOf(":") + 1);
    const message = `${burst.length} × rpc ${name}`;
    return [{ rule: "repeated-call", shape, message, route, spans: burst }];
  });
}

/** Finds cached functions that were asked often and never had a value. */
export const idleCache: Rule = (unit, { idleCachesOf }) =>
  idleCachesOf(unit).map(({ name, lookups, spans }): Evidence => ({
    rule: "idle-cache",
    shape: name,
    message: `no hit in ${lookups}`,
    route: unit.route,
    spans,
  }));

/** Returns the largest group of spans that run without a long pause. */
function largestBurst(spans: readonly SpanData[]): SpanData[] {
  let largest: SpanData[] = [];
  let burst: SpanData[] = [];
  let end = -Infinity;
  for (const span of spans.toSorted((a, b) => a.startTime - b.startTime)) {
    if (span.startTime - end > PAUSE) burst = [];
    burst.push(span);
    end = Math.max(end, span.endTime);
    if (burst.length > largest.length) largest = burst;
  }
  return largest;
}

/** Returns the spans that begin after the one before has ended. */
function sequenceOf(spans: readonly SpanData[]): SpanData[] {
  let end = -Infinity;
  return spans.toSorted((a, b) => a.startTime - b.startTime).filter((span) => {
    if (span.startTime < end) return false;
    end = span.endTime;
    return true;
  });
}
