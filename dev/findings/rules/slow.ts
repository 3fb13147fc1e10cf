/**
 * Slow work: a statement that takes most of its request, a result with many
 * rows, and a request that takes longer than its route's history says.
 *
 * @module
 */

import {
  attributeText,
  statementOf,
} from "../../../trace/export/attributes.ts";
import { statementShape } from "../../../trace/export/statement_shape.ts";
import type { SpanData } from "../../../trace/types.ts";
import type { Evidence, Rule } from "../rule.ts";
import { durationText } from "../../texts.ts";
import { isReading, shortStatement } from "../texts.ts";
import type { Unit } from "../units.ts";

/** The least duration of a slow query, in milliseconds. */
const SLOW_QUERY = 100;

/** The rows of a large result. */
const LARGE_RESULT = 1_000;

/** Finds statements that take at least half of a slow request. */
export const slowQuery: Rule = (
  unit,
  { isCrowded, usualTime, ranOnce, isFirstQuery },
) => {
  const { root, route, status, spans } = unit;
  if (status === undefined) return [];
  const slow = spans.filter((span) => {
    const { duration } = span;
    const statement = statementOf(span);
    if (statement === undefined || duration < SLOW_QUERY) return false;
    const shape = statementShape(statement);
    return duration >= root.duration / 2 && !isFirstQuery(span) &&
      // Otherwise the machine was busy, and the statement isn't the cause.
      usualTime(shape) >= SLOW_QUERY / 2 &&
      // A write waits for the disk, which may be slow once.
      (isReading(statement) || !ranOnce(shape));
  });
  if (slow.length === 0 || isCrowded(unit)) return [];
  return slow.map((span): Evidence => {
    const shape = statementShape(statementOf(span)!);
    const message = `${durationText(span.duration)}: ${shortStatement(shape)}`;
    return { rule: "slow-query", shape, message, route, spans: [span] };
  });
};

/** Finds queries of a request that return many rows without a limit. */
export const largeResult: Rule = ({ route, status, spans, parentOf }) => {
  if (status === undefined) return [];
  const large = spans.filter((span) =>
    rowsOf(span) >= LARGE_RESULT &&
    // A limit is a decision, and a cached value is read once.
    !/\b(?:limit|fetch first|top)\b/i.test(statementOf(span) ?? "limit") &&
    !isCached(span, parentOf)
  );
  return large.map((span): Evidence => {
    const shape = statementShape(statementOf(span)!);
    const rows = rowsOf(span).toLocaleString("en");
    const message = `${rows} rows: ${shortStatement(shape)}`;
    return { rule: "large-result", shape, message, route, spans: [span] };
  });
};

function rowsOf({ attributes }: SpanData): number {
  return Number(attributes["db.response.returned_rows"] ?? 0);
}

/** Whether a span computes a value of a cache. */
function isCached(span: SpanData, parentOf: Unit["parentOf"]): boolean {
  let parent = parentOf(span);
  // Also ends at a cycle of parents.
  for (let depth = 0; parent !== undefined && depth < 100; depth++) {
    if (attributeText(parent, "app.cache.key") !== undefined) return true;
    parent = parentOf(parent);
  }
  return false;
}

/** Finds requests that take longer than their route usually does. */
export const slowRequest: Rule = (unit, { slowdownOf }) => {
  const { root, route } = unit;
  const slowdown = slowdownOf(unit);
  if (slowdown === undefined) return [];
  const { usual, durations } = slowdown;
  const took = durationText(Math.min(...durations));
  const message =
    `${durations.length} requests in a row took at least ${took}` +
    `, usually ${durationText(usual)}`;
  return [{ rule: "slow-request", shape: "", message, route, spans: [root] }];
};
