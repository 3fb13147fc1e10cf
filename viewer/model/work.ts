/**
 * Repeated work, added up over the whole trace: statements, cache keys,
 * procedures and fetched paths.
 *
 * @module
 */

import { attributeText, methodOf } from "../../trace/export/attributes.ts";
import { isOpenSpan, wasSent } from "../../trace/export/semantics.ts";
import { isProcedure, workKey } from "../../trace/export/work_key.ts";
import type { SpanData } from "../../trace/types.ts";
import { percentile } from "../../trace/export/percentile.ts";
import { processOf } from "./process.ts";
import type { SpanNode, TraceTree } from "./tree.ts";

/** The kinds of repeated work. */
export type WorkKind = "statement" | "cache" | "procedure" | "fetch";

/** Spans that do the same work, and their times in milliseconds. */
export type Work = ReturnType<typeof sumUp>;

/** The columns that order the table. */
export type WorkColumn = Exclude<keyof Work, "id" | "nodes">;

/** Lists the work of a trace, the longest total first. */
export function listWork({ nodes }: TraceTree): Work[] {
  return [...Map.groupBy(nodes, workId)]
    .flatMap(([id, group]) => id === undefined ? [] : [sumUp(id, group)])
    .sort((a, b) => b.total - a.total);
}

function sumUp(id: string, unordered: readonly SpanNode[]) {
  const nodes = unordered
    .toSorted((a, b) => a.span.startTime - b.span.startTime);
  const times = Float64Array.from(nodes, ({ span }) => span.duration).sort();
  const colon = id.indexOf(":");
  return {
    /** The id, unique in its trace. */
    id,
    /** The kind. */
    kind: id.slice(0, colon) as WorkKind,
    /** The statement, key, procedure, or method and path. */
    name: id.slice(colon + 1),
    /** The spans, by start time. */
    nodes,
    /** How many spans there are. */
    count: nodes.length,
    /** The sum of their durations. */
    total: times.reduce((sum, time) => sum + time, 0),
    /** The median. */
    median: percentile(times, 50),
    /** The longest. */
    longest: times.at(-1)!,
  };
}

/** Returns the kind and name of a span's work. `undefined` for other spans. */
function workId({ span, parent }: SpanNode): string | undefined {
  if (isOpenSpan(span)) return undefined;
  const key = workKey(span, parent?.span);
  if (key !== undefined || isProcedure(span)) return key;
  const method = methodOf(span);
  return method !== undefined && wasSent(span)
    ? `fetch:${method} ${fetchedPath(span)}`
    : undefined;
}

/** Returns the path of a request without its query, after a foreign host. */
function fetchedPath(span: SpanData): string {
  const full = attributeText(span, "url.full");
  const path = attributeText(span, "url.path");
  if (full === undefined) return path ?? span.name;
  try {
    const { host, pathname } = new URL(full);
    return processOf(span) === "browser" ? pathname : `${host}${pathname}`;
  } catch {
    return path ?? full.split("?", 1)[0]!;
  }
}

/** The least number of equal spans that the header points at. */
const MIN_REPEATS = 3;

/**
 * Returns the repeated work that may be worth avoiding: the longest of the
 * statements and cache keys, and the longest of the procedures and fetches.
 *
 * @param work The longest total first.
 */
export function longestRepeats(work: readonly Work[]): Work[] {
  const repeated = work.filter(({ count }) => count >= MIN_REPEATS);
  const isInner = ({ kind }: Work) => kind === "statement" || kind === "cache";
  const inner = repeated.find(isInner);
  const outer = repeated.find((each) => !isInner(each));
  return [inner, outer].filter((each) => each !== undefined);
}
