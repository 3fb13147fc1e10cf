/**
 * Creates small traces from sketched trees, for tests of the viewer's model.
 *
 * @module
 */

import type { SerializedTrace, SpanData } from "../../trace/types.ts";

/** Description of a span: its name, times, attributes and children. */
export interface Sketch {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly also: Partial<SpanData>;
  readonly below: readonly Sketch[];
}

/** Describes a span. */
export function span(
  name: string,
  start: number,
  end: number,
  below: readonly Sketch[] = [],
  also: Partial<SpanData> = {},
): Sketch {
  return { name, start, end, also, below };
}

/** Creates a trace whose span ids are the names, numbered where they repeat. */
export function trace(
  root: Sketch,
  metadata: Partial<SerializedTrace["metadata"]> = {},
): SerializedTrace {
  const spans: SpanData[] = [];
  const used = new Map<string, number>();
  const add = (sketch: Sketch, parentId: string | null): string => {
    const times = (used.get(sketch.name) ?? 0) + 1;
    used.set(sketch.name, times);
    const id = times === 1 ? sketch.name : `${sketch.name}#${times}`;
    const place = spans.length;
    const children: string[] = [];
    spans.push({
      id,
      traceId: "t",
      parentId,
      name: sketch.name,
      layer: "custom",
      status: "ok",
      startTime: sketch.start,
      endTime: sketch.end,
      duration: sketch.end - sketch.start,
      attributes: {},
      events: [],
      children,
      ...sketch.also,
    });
    for (const child of sketch.below) {
      children.push(add(child, spans[place]!.id));
    }
    return id;
  };
  const rootSpanId = add(root, null);
  return {
    id: "t",
    rootSpanId,
    startTime: root.start,
    endTime: root.end,
    duration: root.end - root.start,
    spans,
    metadata: { origin: "server", ...metadata },
  };
}

/** Describes the span of a query. */
export function query(statement: string, start: number, end: number): Sketch {
  return span("db.query", start, end, [], {
    layer: "database",
    attributes: { "db.query.text": statement },
  });
}
