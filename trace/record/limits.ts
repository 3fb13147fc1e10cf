/**
 * The limits of a trace. No request can exceed them. The record counts dropped
 * items.
 *
 * @module
 */

import type { SpanData, SpanEvent } from "../types.ts";

/** Maximum characters of a span's or event's name. */
export const MAX_NAME_LENGTH = 256;
/** Maximum characters of an attribute's key. */
export const MAX_KEY_LENGTH = 128;
/** Maximum characters of an attribute's value. */
export const MAX_VALUE_LENGTH = 4096;
/** Maximum characters of a value that is cut earlier. The note fits as well. */
export const MAX_TEXT: number = MAX_VALUE_LENGTH - 64;
/** Maximum attributes of a span. */
export const MAX_ATTRIBUTES = 64;
/** Maximum attributes of an event. */
export const MAX_EVENT_ATTRIBUTES = 16;
/** Maximum events of a span. */
export const MAX_EVENTS = 128;
/**
 * Maximum bytes of a trace's attributes and events, roughly. A character counts
 * as one byte. Each attribute and event adds {@linkcode ATTRIBUTE_SIZE} or
 * {@linkcode EVENT_SIZE}.
 */
export const TRACE_SIZE = 1024 * 1024;
/**
 * The same limit for each span of `maxSpansPerTrace`. The larger one applies.
 */
const BYTES_PER_SPAN = 2048;
/**
 * Attributes and events that say how a request ended. They are recorded after
 * everything else, so a part of a trace's bytes is kept for them.
 */
export const ESSENTIAL: ReadonlySet<string> = new Set([
  "http.response.status_code",
  "http.route",
  "error.type",
  "exception",
]);
/** Bytes of a trace that only these can use. */
export const ESSENTIAL_SIZE: number = 32 * 1024;
/** Bytes of an event. The spans themselves are counted, not measured. */
export const EVENT_SIZE = 48;
/** Bytes of an attribute. */
export const ATTRIBUTE_SIZE = 24;
/** Maximum running traces. The oldest one is ended first. */
export const MAX_RUNNING_TRACES = 10_000;

/** Returns the maximum bytes of a trace with at most this many spans. */
export function capacityOf(maxSpans: number): number {
  return Math.max(TRACE_SIZE, maxSpans * BYTES_PER_SPAN);
}

/** Returns the bytes of a span's texts, attributes and events, roughly. */
export function sizeOfSpan({ name, attributes, events }: SpanData): number {
  let size = name.length + sizeOfAttributes(attributes);
  for (const event of events) size += sizeOfEvent(event);
  return size;
}

/** Returns the bytes of an event, roughly. */
export function sizeOfEvent({ name, attributes = {} }: SpanEvent): number {
  return EVENT_SIZE + name.length + sizeOfAttributes(attributes);
}

function sizeOfAttributes(attributes: SpanData["attributes"]): number {
  let size = 0;
  for (const [key, value] of Object.entries(attributes)) {
    size += ATTRIBUTE_SIZE + key.length;
    if (typeof value === "string") size += value.length;
  }
  return size;
}
