/**
 * The layout of packed traces, and the numbers its writer and reader share.
 *
 * The text is base64 of gzip of this payload:
 *
 * ```text
 *  "QKT1"
 *  strings   every distinct text once; all others refer to it by number
 *  shapes    every distinct list of attribute keys and types once
 *  index     ┌ trace 0 ┬ trace 1 ┬ …    what the list shows, and how many
 *            │         │         │      bytes each trace has in the columns
 *  ids       ├ 16 + 8n ┼ 16 + 8n ┼ …    trace id, then the span ids, as bytes
 *  spans     ├─────────┼─────────┼ …    a row a span: what it is
 *  times     ├─────────┼─────────┼ …    a row a span: when it was
 *  values    └─────────┴─────────┴ …    attribute values, events, rarities
 * ```
 *
 * Each section begins with its length in bytes. Reading the first three is
 * enough for the list; a trace is decoded when somebody asks for it, from its
 * stretch of each of the last four. They are columns and not one block a
 * trace because like compresses well beside like: ids are random and would
 * spoil the neighbourhood, rows of `spans` repeat from trace to trace.
 *
 * ```text
 *  span row  name · layer and status · parent · shape · flags
 *  time row  start since the span before · end since start [· duration]
 *  parent    0 none · 1 another service's, its id follows · 2 + its place
 * ```
 *
 * Whole numbers are LEB128 varints up to 2⁵³ − 1. A span's children, its
 * trace id and its duration are only written where they aren't what the other
 * fields imply.
 *
 * Times are exact. A double between 2⁴⁰ and 2⁴¹, which is any epoch
 * millisecond from 2004 to 2039, is a whole multiple of 2⁻¹² ms, so the
 * difference of two is a small whole number of that unit (244 ns). A time for
 * which this doesn't hold is written as the eight bytes of its double.
 *
 * Everything that is read costs at least a byte of payload, and no memory is
 * reserved by a count before there are bytes for it: work and memory are
 * bounded by the payload's size, whatever it says.
 *
 * @module
 */

/** The first four bytes of the payload: the format and its version. */
export const MARK = "QKT1";

/** How much a payload may inflate to, in bytes. */
export const MAX_PAYLOAD = 512 * 1024 * 1024;

/** How many units a millisecond has in a time difference. */
export const TIME_UNITS = 4096;

/** Marks in a trace's index record. */
export const TRACE_FLAG = {
  /** Some id isn't plain hexadecimal: all are strings. */
  textIds: 1,
  /** The trace began in a browser. */
  client: 2,
  /** The duration isn't end minus start, and follows. */
  duration: 4,
  method: 8,
  pathname: 16,
  statusCode: 32,
  routePattern: 64,
  droppedSpans: 128,
} as const;

/** Marks in a span's row. */
export const SPAN_FLAG = {
  /** The trace id isn't the trace's. */
  traceId: 1,
  /** The duration isn't end minus start, and follows. */
  duration: 2,
  /** The children aren't the spans that name this one as parent. */
  children: 4,
  events: 8,
  droppedAttributes: 16,
  droppedEvents: 32,
} as const;

/** What a span row says in place of a parent's place plus `first`. */
export const PARENT = { none: 0, foreign: 1, first: 2 } as const;

/** The types of attribute values, as shapes number them. */
export const VALUE = { string: 0, number: 1, boolean: 2 } as const;
