import type { SerializedTrace } from "../../trace/types.ts";
import { deserializeTrace, serializeTrace } from "../../trace/serialize.ts";
import { Field } from "../../trace/export/otlp_value.ts";

/** Whether a parsed file has Chrome's Trace Event Format. */
export function isChromeTrace(value: unknown): boolean {
  return "traceEvents" in Object(value);
}

/**
 * Reads traces that `toChromeTrace()` wrote. Times differ from the original by
 * at most half a microsecond.
 *
 * @param value The result of `JSON.parse`.
 * @throws {TypeError} If another program wrote the file, or it is damaged.
 */
export function fromChromeTrace(value: unknown): SerializedTrace[] {
  const file = new Field(value, "the Chrome trace");
  const traces = Map.groupBy(
    file.get("traceEvents").items(),
    (event) => event.get("pid").value,
  );
  return [...traces.values()].map((events) => {
    const about = events.map((event) => event.get("args").get("trace"))
      .find((trace) => !trace.isAbsent);
    if (about === undefined) {
      throw new TypeError(
        "Cannot read the Chrome trace: it isn't an export of the kit, because other files don't contain whole traces",
      );
    }
    const epoch = file.get("otherData").get("epoch").number();
    return readTrace(about.record(), events, epoch);
  });
}

/** A span, to be checked with its trace. */
interface LooseSpan extends Record<string, unknown> {
  readonly events: unknown[];
  readonly children: unknown[];
}

function readTrace(
  { id, rootSpanId, startTime, endTime, duration, ...metadata }: Record<
    string,
    unknown
  >,
  events: readonly Field[],
  epoch: number,
): SerializedTrace {
  const spans: LooseSpan[] = [];
  const byId = new Map<unknown, LooseSpan>();
  const timeOf = (event: Field) => epoch + event.get("ts").number() / 1000;
  for (const event of events) {
    const { value: phase } = event.get("ph");
    const { value: name } = event.get("name");
    const args = event.get("args").record();
    if (phase === "X") {
      const { parent: parentId, ...others } = args;
      const startTime = timeOf(event);
      const duration = event.get("dur").number() / 1000;
      const span: LooseSpan = {
        traceId: id,
        ...others,
        parentId,
        name,
        layer: event.get("cat").value,
        startTime,
        endTime: startTime + duration,
        duration,
        events: [],
        children: [],
      };
      spans.push(span);
      byId.set(args.id, span);
    } else if (phase === "i") {
      const { span, attributes } = args;
      byId.get(span)?.events.push({ name, time: timeOf(event), attributes });
    }
  }
  for (const { id, parentId } of spans) byId.get(parentId)?.children.push(id);
  const times = { startTime, endTime, duration };
  return serializeTrace(
    deserializeTrace({ id, rootSpanId, ...times, spans, metadata }),
  );
}
