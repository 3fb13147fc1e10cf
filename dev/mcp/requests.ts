import { exceptionOf, isQuery } from "../../trace/export/attributes.ts";
import type { SpanData, TraceData, Tracer } from "../../trace/types.ts";
import { type Unit, unitsOf } from "../findings/units.ts";

/** A request or job, with its trace. */
export interface RequestRecord extends Unit {
  /** Its trace. */
  readonly trace: TraceData;
}

/** Returns the ended requests and jobs of a tracer, the latest first. */
export function requestsOf(tracer: Tracer): RequestRecord[] {
  return tracer.getTraces()
    .flatMap((trace) => unitsOf(trace).map((unit) => ({ ...unit, trace })))
    .sort((a, b) => b.root.startTime - a.root.startTime);
}

/** Whether a request or job belongs to the present run. */
export function isPresent({ trace }: RequestRecord): boolean {
  return trace.metadata.run === undefined;
}

/** Whether a request or job failed. */
export function isFailed({ root, status = 0, spans }: RequestRecord): boolean {
  return status >= 500 || [root, ...spans].some(isFailedSpan);
}

function isFailedSpan({ status }: SpanData): boolean {
  return status === "error";
}

/** Returns the span that recorded the first exception of a request. */
export function failureOf(
  { root, spans }: RequestRecord,
): SpanData | undefined {
  return [root, ...spans].find((each) => exceptionOf(each) !== undefined) ??
    [...spans, root].find(isFailedSpan);
}

/** Returns the number of queries of a request. */
export function queriesOf({ spans }: RequestRecord): number {
  return spans.filter(isQuery).length;
}
