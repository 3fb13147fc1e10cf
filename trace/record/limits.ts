/**
 * The limits of a trace. No request can exceed them, and the record counts what
 * was dropped.
 *
 * @module
 */

/** Characters of a span's or event's name. */
export const MAX_NAME_LENGTH = 256;
/** Characters of an attribute's key. */
export const MAX_KEY_LENGTH = 128;
/** Characters of an attribute's value. */
export const MAX_VALUE_LENGTH = 4096;
/** Attributes of a span. */
export const MAX_ATTRIBUTES = 64;
/** Attributes of an event. */
export const MAX_EVENT_ATTRIBUTES = 16;
/** Events of a span. */
export const MAX_EVENTS = 128;
/**
 * Bytes of a trace's attributes and events, roughly: a character counts as one,
 * and each attribute and event besides as much as {@linkcode ATTRIBUTE_SIZE}
 * and {@linkcode EVENT_SIZE} say.
 */
export const TRACE_SIZE = 1024 * 1024;
/** Bytes for each span that a trace may hold, where that gives more. */
export const BYTES_PER_SPAN = 2048;
/** Bytes of an event. The spans themselves are counted, not measured. */
export const EVENT_SIZE = 48;
/** Bytes of an attribute. */
export const ATTRIBUTE_SIZE = 24;
/** Traces that are running at the same time; the oldest one gives way. */
export const MAX_RUNNING_TRACES = 10_000;
