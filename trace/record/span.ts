import { clip } from "../../core/redact/redact.ts";
import type {
  AttributeValue,
  Layer,
  SpanOpener,
} from "../../core/observed_span.ts";
import { formatTraceparent, parseTraceparent } from "../trace_context.ts";
import { asText, describeError, layerOf, textOf } from "./untyped.ts";
import type { SpanTrace } from "./host.ts";
import {
  ATTRIBUTE_SIZE,
  ESSENTIAL,
  EVENT_SIZE,
  MAX_ATTRIBUTES,
  MAX_EVENT_ATTRIBUTES,
  MAX_EVENTS,
  MAX_KEY_LENGTH,
  MAX_NAME_LENGTH,
  MAX_VALUE_LENGTH,
} from "./limits.ts";
import { noopSpan } from "../noop_tracer.ts";
import type { Attributes, Span, SpanEvent, SpanStatus } from "../types.ts";

/** Values by key, without a prototype: any key is just a key. */
type Values = Record<string, AttributeValue>;

/**
 * An attribute of a span, in a linked list. For two or three attributes, an
 * object takes twice the memory and five times as long. The last of 64 is found
 * in 0.3 µs.
 */
interface Attribute {
  readonly key: string;
  value: AttributeValue;
  next: Attribute | undefined;
}

/** The `endedAt` of an open span. */
const OPEN = -1;

/**
 * The span of a {@linkcode Tracer}: the running span and its record in one.
 *
 * It costs little more than a plain object with two clock readings. Its id is
 * created on first read, and its record when the trace is read.
 */
export class SpanImpl implements Span {
  /** @internal The trace that keeps this span. */
  readonly trace: SpanTrace;
  /** The span around this one; `null` for the root. */
  readonly parent: SpanImpl | null;
  /**
   * @internal The next span of the trace. Growing an array instead takes 4 % of
   * the time of a trace with ten spans.
   */
  next: SpanImpl | undefined = undefined;
  /** The name. */
  readonly name: string;
  /** The part of the application that does it. */
  readonly layer: Layer;
  /** The start, on the tracer's monotonic clock. */
  readonly startedAt: number;
  /** The end, on the same clock. Negative while the span is open. */
  endedAt: number = OPEN;
  /** The status so far. */
  status: SpanStatus = "ok";
  /** @internal The first of the attributes, if there are any. */
  attributes: Attribute | undefined = undefined;
  /** @internal The call stack that opened the span, under the dev command. */
  stack: object | undefined = undefined;
  /** The events, if there are any. */
  events: SpanEvent[] | undefined = undefined;
  /** The number of dropped attributes. */
  droppedAttributes = 0;
  /** The number of dropped events. */
  droppedEvents = 0;
  #id: string | undefined = undefined;

  /** @internal Creates an open span. */
  constructor(
    trace: SpanTrace,
    parent: SpanImpl | null,
    name: string,
    layer: Layer,
    startedAt: number,
  ) {
    this.trace = trace;
    this.parent = parent;
    this.name = textOf(name, MAX_NAME_LENGTH);
    this.layer = layerOf(layer, this.name);
    this.startedAt = startedAt;
  }

  /** 16 lower-case hex digits. */
  get id(): string {
    return this.#id ??= this.trace.host.ids.spanId();
  }

  /** 32 lower-case hex digits. */
  get traceId(): string {
    return this.trace.id;
  }

  /** The span of the request that this one is part of. */
  get root(): Span {
    if (this.layer === "request") return this;
    let span = this.parent;
    while (span !== null && span.layer !== "request") span = span.parent;
    return span ?? this.trace.root;
  }

  /** Whether the span has not ended. */
  get isOpen(): boolean {
    return this.endedAt === OPEN;
  }

  /**
   * Opens a span below this one, or below its nearest open ancestor. After the
   * end of the trace, nothing is recorded.
   */
  child(name: string, layer: Layer, attributes?: Attributes): Span {
    return this.trace.openSpan(this, name, layer, attributes);
  }

  /** Returns the duration so far, in milliseconds. */
  elapsed(): number {
    const until = this.isOpen
      ? this.trace.host.clock.monotonic()
      : this.endedAt;
    return until - this.startedAt;
  }

  /** Sets an attribute. The last value stays. */
  setAttribute(key: string, value: AttributeValue | undefined): void {
    if (this.endedAt !== OPEN || value === undefined) return;
    if (typeof key !== "string") {
      this.droppedAttributes++;
      return;
    }
    key = clip(key, MAX_KEY_LENGTH);
    let last: Attribute | undefined;
    let count = 0;
    for (let item = this.attributes; item !== undefined; item = item.next) {
      if (item.key === key) {
        item.value = this.#fit(value, item.value, key) ?? item.value;
        return;
      }
      last = item;
      count++;
    }
    if (
      count >= MAX_ATTRIBUTES && !ESSENTIAL.has(key) ||
      !this.trace.charge(ATTRIBUTE_SIZE + key.length, key)
    ) {
      this.droppedAttributes++;
      return;
    }
    const fitted = this.#fit(value, undefined, key);
    if (fitted === undefined) return;
    const added: Attribute = { key, value: fitted, next: undefined };
    if (last === undefined) this.attributes = added;
    else last.next = added;
  }

  /** Returns the value within the limits, or `undefined` if it doesn't fit. */
  #fit(
    value: AttributeValue,
    old: AttributeValue | undefined,
    purpose: string,
  ): AttributeValue | undefined {
    // JSON has no NaN or bigint.
    if (
      typeof value !== "string" && typeof value !== "boolean" &&
      !Number.isFinite(value)
    ) value = asText(value);
    let size = 0;
    if (typeof value === "string") {
      if (value.length > MAX_VALUE_LENGTH) {
        value = clip(value, MAX_VALUE_LENGTH);
      }
      size = value.length;
    }
    if (typeof old === "string") size -= old.length;
    if (size !== 0 && !this.trace.charge(size, purpose)) {
      this.droppedAttributes++;
      return undefined;
    }
    return value;
  }

  /** Records that something happened now. */
  event(name: string, attributes?: Attributes): void {
    if (this.endedAt !== OPEN) return;
    name = textOf(name, MAX_NAME_LENGTH);
    const events = this.events ??= [];
    if (
      events.length >= MAX_EVENTS ||
      !this.trace.charge(EVENT_SIZE + name.length, name)
    ) {
      this.droppedEvents++;
      return;
    }
    const time = this.trace.now();
    const event: SpanEvent = attributes === undefined
      ? { name, time }
      : { name, time, attributes: this.#eventAttributes(attributes, name) };
    events.push(event);
    this.trace.host.onEvent(this, event);
  }

  #eventAttributes(attributes: Attributes, purpose: string): Values {
    const values = { __proto__: null } as unknown as Values;
    let count = 0;
    for (const key in attributes) {
      const value = attributes[key];
      if (value === undefined) continue;
      const kept = clip(key, MAX_KEY_LENGTH);
      if (
        ++count > MAX_EVENT_ATTRIBUTES ||
        !this.trace.charge(ATTRIBUTE_SIZE + kept.length, purpose)
      ) {
        this.droppedAttributes++;
        continue;
      }
      const fitted = this.#fit(value, undefined, purpose);
      if (fitted !== undefined) values[kept] = fitted;
    }
    return values;
  }

  /**
   * Marks the span as failed. The first span of a trace that sees an error
   * records it as an `exception` event (OpenTelemetry, "Exceptions on spans").
   * The others only get `error.type`.
   */
  error(error?: unknown): void {
    if (this.endedAt !== OPEN) return;
    this.status = "error";
    if (error === undefined) return;
    const { type, message, stack } = describeError(error);
    this.setAttribute("error.type", type);
    if (!this.trace.isNewError(error)) return;
    // The error says more than the last of many events, such as logs.
    if (this.events?.length === MAX_EVENTS) {
      this.events.pop();
      this.droppedEvents++;
    }
    this.event("exception", {
      "exception.type": type,
      "exception.message": message,
      "exception.stacktrace": stack,
    });
  }

  /** Ends the span. Every later call on it does nothing. */
  end(): void {
    if (this.endedAt !== OPEN) return;
    this.endedAt = this.trace.host.clock.monotonic();
    this.trace.onSpanEnd(this);
  }

  /**
   * Returns a function that opens new records with this span as their parent, or
   * the span of a `traceparent`. The first one of these links to this span, which
   * then belongs to the caller's trace.
   */
  continuation(): SpanOpener {
    const { id: parentId, traceId, trace: { host } } = this;
    let isLinked = false;
    return (name, layer, attributes, traceparent) => {
      if (!host.records(layer)) return noopSpan;
      const caller = parseTraceparent(traceparent);
      if (caller !== undefined && !isLinked) {
        isLinked = true;
        const link = formatTraceparent({ traceId, id: parentId });
        attributes = { ...attributes, "app.link.upgrade": link };
      }
      return host.startTrace(name, layer, {
        traceId,
        parentId,
        ...caller,
        ...(attributes ? { attributes } : {}),
      });
    };
  }
}
