import { Field, readKeyValues, readValue } from "../export/otlp_value.ts";
import { readOptionalId, readTime } from "../export/otlp_reader.ts";
import type { AttributeValue, RemoteEvent, Tracer } from "../types.ts";
import { readEach, type Received, safeEvent } from "./otlp_spans.ts";

/** Adds the log records of a request to their spans. Others are dropped. */
export function readLogs(message: unknown, tracer: Tracer): Received {
  const records = new Field(message, "OTLP").get("resourceLogs").items([])
    .flatMap((resource) => resource.get("scopeLogs").items([]))
    .flatMap((scope) => scope.get("logRecords").items([]));
  const logs: RemoteEvent[] = [];
  const received = readEach(records, (record) => {
    const log = readRecord(record);
    if (log !== undefined) logs.push(log);
  });
  if (logs.length > 0) tracer.mergeEvents(logs);
  return received;
}

function readRecord(record: Field): RemoteEvent | undefined {
  const traceId = readOptionalId(record.get("traceId"), 32);
  const spanId = readOptionalId(record.get("spanId"), 16);
  if (traceId === undefined || spanId === undefined) return undefined;
  const time = timeOf(record.get("timeUnixNano")) ??
    timeOf(record.get("observedTimeUnixNano")) ??
    record.get("timeUnixNano").fail("nanoseconds since 1970 in decimal");
  const body = record.get("body");
  const text = body.isAbsent ? "" : readValue(body);
  const name = record.get("eventName").text("");
  const attributes: Record<string, AttributeValue> = {
    "log.severity": severityOf(record),
    // Consoles end each text with a line break.
    "log.body": typeof text === "string" ? text.trimEnd() : text,
    ...name !== "" && { "event.name": name },
    ...readKeyValues(record.get("attributes")),
  };
  return {
    traceId,
    spanId,
    event: safeEvent({ name: "log", time, attributes }),
  };
}

/** Returns a time in milliseconds. `undefined` for none, which is 0 in OTLP. */
function timeOf(field: Field): number | undefined {
  return field.isAbsent ? undefined : readTime(field) || undefined;
}

/** The names of OpenTelemetry's severities. Each has four numbers. */
const SEVERITIES = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

function severityOf(record: Field): string {
  const text = record.get("severityText").text("");
  if (text !== "") return text;
  const { value } = record.get("severityNumber");
  return SEVERITIES[Math.ceil(Number(value) / 4) - 1] ?? "UNSPECIFIED";
}
