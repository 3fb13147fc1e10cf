import { clip, redactText } from "../../core/redact/redact.ts";
import { isSecretParameter } from "../../core/redact/redact_url.ts";
import { eachSpan } from "../export/otlp_reader.ts";
import { metadataOf } from "../export/semantics.ts";
import type { LooseSpan } from "../export/trace_assembler.ts";
import {
  MAX_ATTRIBUTES,
  MAX_EVENT_ATTRIBUTES,
  MAX_EVENTS,
  MAX_NAME_LENGTH,
} from "../record/limits.ts";
import { readAttributes } from "../record/read_client_span.ts";
import type { AttributeValue, SpanData, SpanEvent, Tracer } from "../types.ts";

/** Maximum spans or log records of a request. */
export const MAX_ITEMS = 20_000;

const TOO_MANY =
  `Cannot read OTLP: a request must have at most ${MAX_ITEMS} spans or log records, received more`;

/** The result of reading a request. */
export interface Received {
  /** The number of items that were malformed, or more than allowed. */
  readonly rejected: number;
  /** The problem with the first of them. */
  readonly problem?: string;
}

/** Adds the spans of a request to a tracer. */
export function readSpans(message: unknown, tracer: Tracer): Received {
  const spans: SpanData[] = [];
  const received = readEach(eachSpan(message, []), (read) => {
    const loose = read();
    if (!isOwnTraffic(loose)) spans.push(toSpanData(loose));
  });
  if (spans.length > 0) tracer.mergeSpans(spans);
  return received;
}

/**
 * Reads items one by one. A malformed item doesn't affect others.
 *
 * @param take Called with an item. Throws a `TypeError` if it is malformed.
 */
export function readEach<T>(
  items: Iterable<T>,
  take: (item: T) => void,
): Received {
  let count = 0;
  let rejected = 0;
  let problem: string | undefined;
  for (const item of items) {
    count++;
    if (count > MAX_ITEMS) {
      rejected++;
      problem ??= TOO_MANY;
      continue;
    }
    try {
      take(item);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      rejected++;
      problem ??= error.message;
    }
  }
  return { rejected, ...problem !== undefined && { problem } };
}

/**
 * Whether a service traced a request to the viewer, such as the export of its
 * own spans. Deno's `OTEL_DENO` traces all requests of the process that
 * receives them, so each export would cause the next one.
 */
function isOwnTraffic({ span, isOurs }: LooseSpan): boolean {
  return !isOurs && span.layer === "request" &&
    metadataOf(span).pathname?.startsWith("/__app/") === true;
}

/** Returns a span within the bounds of the tracer's own, and redacted. */
function toSpanData({ span, service }: LooseSpan): SpanData {
  const { droppedAttributes = 0, droppedEvents = 0 } = span;
  const given = service === undefined
    ? span.attributes
    : { "service.name": service, ...span.attributes };
  const attributes = safeAttributes(given, MAX_ATTRIBUTES);
  const lost = droppedAttributes + Object.keys(given).length -
    Object.keys(attributes).length;
  const lostEvents = droppedEvents +
    Math.max(0, span.events.length - MAX_EVENTS);
  return {
    ...span,
    name: redactText(clip(span.name, MAX_NAME_LENGTH)),
    attributes,
    events: span.events.slice(0, MAX_EVENTS).map(safeEvent),
    children: [],
    ...lost > 0 && { droppedAttributes: lost },
    ...lostEvents > 0 && { droppedEvents: lostEvents },
  };
}

/** Returns an event within the bounds of the tracer's own, and redacted. */
export function safeEvent(
  { name, time, attributes = {} }: SpanEvent,
): SpanEvent {
  return {
    name: redactText(clip(name, MAX_NAME_LENGTH)),
    time,
    attributes: safeAttributes(attributes, MAX_EVENT_ATTRIBUTES),
  };
}

/** Values of query parameters, and headers with their name. */
const PARAMETER = /^db\.(?:query|operation)\.parameter\./;
const HEADER =
  /^(?:http|rpc(?:\.\w+)?)\.(?:request|response)\.(?:header|metadata)\./;

function safeAttributes(
  attributes: Readonly<Record<string, AttributeValue>>,
  max: number,
): Record<string, AttributeValue> {
  const kept = Object.entries(attributes).filter(([key]) => {
    const header = key.replace(HEADER, "");
    const isSecret = header !== key && isSecretParameter(header);
    return !isSecret && !PARAMETER.test(key);
  });
  return readAttributes(Object.fromEntries(kept), max);
}
