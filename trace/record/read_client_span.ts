import { clip, redactQuery, redactText } from "../../core/redact/redact.ts";
import { isLayer, LAYERS, OPEN, STATUSES } from "../export/semantics.ts";
import { isId } from "../trace_context.ts";
import {
  MAX_ATTRIBUTES,
  MAX_EVENT_ATTRIBUTES,
  MAX_EVENTS,
  MAX_KEY_LENGTH,
  MAX_NAME_LENGTH,
  MAX_VALUE_LENGTH,
} from "./limits.ts";
import type {
  AttributeValue,
  ClientSpanData,
  SpanEvent,
  SpanStatus,
} from "../types.ts";

/** The last time of a `Date`, in epoch milliseconds. */
const MAX_TIME = 8.64e15;

/**
 * Reads a span of a browser's message. Long values are cut, surplus ones are
 * dropped, and wrong types are refused. A span without an end is open.
 *
 * @param value The span, as parsed JSON.
 * @param at Its index in the message.
 * @param offset The difference to add to its times, in milliseconds.
 * @returns The span, or the problem with it.
 */
export function readClientSpan(
  value: unknown,
  at: string,
  offset: number,
): ClientSpanData | string {
  if (typeof value !== "object" || value === null) {
    return `${at} must be an object`;
  }
  const span = value as Record<string, unknown>;
  const { id, parentId = null, name, layer = "custom", status = "ok" } = span;
  if (!isId(id, 8)) {
    return `${at}.id must be 16 lower-case hex digits, not all zero`;
  }
  if (parentId !== null && !isId(parentId, 8)) {
    return `${at}.parentId must be null or 16 lower-case hex digits, not all zero`;
  }
  if (typeof name !== "string") return `${at}.name must be a string`;
  if (!isLayer(layer)) return `${at}.layer must be one of ${LAYERS.join(", ")}`;
  if (!STATUSES.includes(status as SpanStatus)) {
    return `${at}.status must be one of ${STATUSES.join(", ")}`;
  }
  const startTime = readTime(span.startTime, offset);
  const isOpen = span.endTime === undefined;
  const endTime = isOpen ? startTime : readTime(span.endTime, offset);
  if (startTime === undefined || endTime === undefined || endTime < startTime) {
    return `${at}.startTime and ${at}.endTime must be epoch milliseconds in this order`;
  }
  const attributes = readAttributes(span.attributes, MAX_ATTRIBUTES);
  const events = readEvents(span.events, offset);
  const code = Number(attributes["http.response.status_code"]);
  // OpenTelemetry: for clients, 4xx is an error too.
  const isRefused = code >= 400;
  const hasFailed = isRefused || status === "error";
  const { "exception.type": type = isRefused ? code : undefined } =
    events.findLast(({ name }) => name === "exception")?.attributes ?? {};
  return {
    id,
    parentId,
    name: redactText(clip(name, MAX_NAME_LENGTH)),
    layer,
    status: hasFailed ? "error" : status as SpanStatus,
    startTime,
    endTime,
    attributes: {
      ...hasFailed && type !== undefined && { "error.type": `${type}` },
      ...attributes,
      ...isOpen && { [OPEN]: true },
    },
    events,
  };
}

function readTime(value: unknown, offset: number): number | undefined {
  if (typeof value !== "number") return undefined;
  const time = value + offset;
  return time >= 0 && time <= MAX_TIME ? time : undefined;
}

/** Reads named values. Only texts, booleans and finite numbers stay. */
export function readAttributes(
  value: unknown,
  max: number,
): Record<string, AttributeValue> {
  if (typeof value !== "object" || value === null) return {};
  const entries: [string, AttributeValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (entries.length === max) break;
    if (typeof item === "string") {
      // Unlike in a URL, nothing marks this text as a query.
      const redact = key === "url.query" ? redactQuery : redactText;
      const text = redact(clip(item, MAX_VALUE_LENGTH));
      entries.push([clip(key, MAX_KEY_LENGTH), text]);
    } else if (typeof item === "boolean" || Number.isFinite(item)) {
      entries.push([clip(key, MAX_KEY_LENGTH), item]);
    }
  }
  // Unlike an assignment, this treats `__proto__` like any other key.
  return Object.fromEntries(entries);
}

function readEvents(value: unknown, offset: number): SpanEvent[] {
  if (!Array.isArray(value)) return [];
  const events: SpanEvent[] = [];
  for (const item of value) {
    if (events.length === MAX_EVENTS) break;
    const time = readTime(item?.time, offset);
    if (typeof item?.name !== "string" || time === undefined) continue;
    events.push({
      name: redactText(clip(item.name, MAX_NAME_LENGTH)),
      time,
      attributes: readAttributes(item.attributes, MAX_EVENT_ATTRIBUTES),
    });
  }
  return events;
}
