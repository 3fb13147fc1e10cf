/**
 * Splits a trace into the units that the rules look at: requests and jobs.
 *
 * ```
 * page load           browser: no unit
 * └─ POST /api/rpc    unit
 *    ├─ rpc:list      its span
 *    └─ GET /prices   a unit of its own
 * ```
 *
 * @module
 */

import { printable } from "../../core/redact/printable.ts";
import { routeKeyOf } from "../../trace/export/route_key.ts";
import {
  isClientSpan,
  isDetached,
  isOpenSpan,
  isReceivedRequest,
  metadataOf,
} from "../../trace/export/semantics.ts";
import type { SpanData, TraceData } from "../../trace/types.ts";

/** A request, job or failed subscription that has ended, and the spans below it. */
export interface Unit {
  /** Its own span. */
  readonly root: SpanData;
  /** The method and route of a request, or the name of a job. */
  readonly route: string;
  /** The HTTP status of a request. `undefined` for jobs. */
  readonly status: number | undefined;
  /** The ended spans below it, by start, without long-lived work. */
  readonly spans: readonly SpanData[];
  /** Returns the span around a span of the trace. */
  parentOf(span: SpanData): SpanData | undefined;
}

/** Returns the units of a trace, in order of their start. */
export function unitsOf({ spans }: TraceData): Unit[] {
  const parentOf = ({ parentId }: SpanData) => spans.get(parentId ?? "");
  const owners = new Map<SpanData, SpanData | undefined>();
  const groups = Map.groupBy(
    spans.values(),
    (span) => ownerOf(span, parentOf, owners),
  );
  return [...groups].flatMap(([root, group]): Unit[] => {
    if (root === undefined || isOpenSpan(root)) return [];
    if (isDetached(root) && root.status !== "error") return [];
    return [{
      root,
      route: printable(routeKeyOf(root) ?? root.name),
      status: isReceivedRequest(root) ? metadataOf(root).statusCode : undefined,
      spans: group.filter((span) => span !== root && !isOpenSpan(span)),
      parentOf,
    }];
  });
}

/**
 * Returns the root of the unit of a span. `undefined` for spans of a browser.
 */
function ownerOf(
  span: SpanData,
  parentOf: Unit["parentOf"],
  owners: Map<SpanData, SpanData | undefined>,
): SpanData | undefined {
  const path: SpanData[] = [];
  let owner: SpanData | undefined;
  let at: SpanData | undefined = span;
  while (at !== undefined) {
    if (owners.has(at)) {
      owner = owners.get(at);
      break;
    }
    // Also ends at a cycle of parents.
    owners.set(at, undefined);
    path.push(at);
    if (isClientSpan(at)) break;
    const parent = parentOf(at);
    if (isDetached(at) || isRoot(at, parent)) {
      owner = at;
      break;
    }
    at = parent;
  }
  for (const span of path) owners.set(span, owner);
  return owner;
}

function isRoot(span: SpanData, parent: SpanData | undefined): boolean {
  return parent === undefined || isClientSpan(parent) ||
    isReceivedRequest(span) ||
    // Each call over a WebSocket is a unit of its own.
    (isReceivedRequest(parent) && metadataOf(parent).statusCode === 101);
}

/** Whether the body of a response wasn't sent to its end. */
export function isCutOff({ events }: SpanData): boolean {
  return events.some(({ name }) => /^response\.(?:cut_off|failed)$/.test(name));
}
