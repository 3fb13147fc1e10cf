import type {
  AttributeValue,
  Layer,
  SpanOpener,
} from "../../core/observed_span.ts";
import { asText, type Attribute } from "./attribute.ts";
import type { Clock } from "./clock.ts";
import { describeError } from "./describe_error.ts";
import type { IdGenerator } from "./ids.ts";
import {
  ATTRIBUTE_SIZE,
  clip,
  EVENT_SIZE,
  MAX_ATTRIBUTES,
  MAX_EVENT_ATTRIBUTES,
  MAX_EVENTS,
  MAX_KEY_LENGTH,
  MAX_NAME_LENGTH,
  MAX_VALUE_LENGTH,
} from "./limits.ts";
import { noopSpan } from "../noop_tracer.ts";
import type {
  Attributes,
  Span,
  SpanEvent,
  SpanStatus,
  TraceOptions,
} from "../types.ts";

/** Values by key, without a prototype: any key is just a key. */
type Values = Record<string, AttributeValue>;

/** What a span asks of the tracer, by way of its trace. */
export interface SpanHost {
  /** Where the time is read. */
  readonly clock: Clock;
  /** Where ids come from. */
  readonly ids: IdGenerator;
  /** Whether spans of a layer are recorded. */
  records(layer: Layer): boolean;
  /** Begins another trace. */
  startTrace(name: string, layer: Layer, options: TraceOptions): Span;
  /** Something has happened on a span. */
  onEvent(span: SpanImpl, event: SpanEvent): void;
}

/** What a span asks of its trace. */
export interface SpanTrace {
  /** The tracer. */
  readonly host: SpanHost;
  /** 32 lower-case hex digits. */
  readonly id: string;
  /** The span around the whole operation. */
  readonly root: SpanImpl;
  /** The epoch time at which the monotonic clock read 0. */
  readonly origin: number;
  /** The span of another service that called, if it told. */
  readonly remoteParentId: string | null;
  /** The time, in epoch milliseconds. */
  now(): number;
  /** Takes room for `size` bytes, or tells that there is none. */
  charge(size: number): boolean;
  /** Whether what was thrown has not been noted on a span of this trace. */
  isNewError(error: unknown): boolean;
  /** Opens a span below `parent` or its nearest open ancestor. */
  openSpan(
    parent: SpanImpl,
    name: string,
    layer: Layer,
    attributes: Attributes | undefined,
  ): Span;
  /** Takes note that a span has ended. */
  onSpanEnd(span: SpanImpl): void;
}

/** Stands in `endedAt` of a span that is open. */
const OPEN = -1;

/**
 * The span of a {@linkcode Tracer}: the running span and its record in one.
 *
 * It is made to cost little more than a plain object with two clock readings.
 * Its id is only drawn when somebody asks for it, its parent is a reference,
 * and everything that can be derived is derived when the trace is read.
 */
export class SpanImpl implements Span {
  /** @internal The trace that keeps this span. */
  readonly trace: SpanTrace;
  /** The span around this one; `null` for the root. */
  readonly parent: SpanImpl | null;
  /**
   * @internal The span of the trace that began next. An array of spans would
   * have to grow, which is 4 % of what a trace of ten costs.
   */
  next: SpanImpl | undefined = undefined;
  /** What is being done. */
  readonly name: string;
  /** The part of the application that does it. */
  readonly layer: Layer;
  /** When it began, on the tracer's monotonic clock. */
  readonly startedAt: number;
  /** When it ended, on the same clock; negative while it is open. */
  endedAt: number = OPEN;
  /** How it went, so far. */
  status: SpanStatus = "ok";
  /** @internal The first of the attributes, if there are any. */
  attributes: Attribute | undefined = undefined;
  /** The events, if there are any. */
  events: SpanEvent[] | undefined = undefined;
  /** How many attributes did not fit. */
  droppedAttributes = 0;
  /** How many events did not fit. */
  droppedEvents = 0;
  #id: string | undefined = undefined;

  /** Makes an open span. Spans are opened by a tracer or a parent's `child`. */
  constructor(
    trace: SpanTrace,
    parent: SpanImpl | null,
    name: string,
    layer: Layer,
    startedAt: number,
  ) {
    this.trace = trace;
    this.parent = parent;
    this.name = name.length > MAX_NAME_LENGTH
      ? clip(name, MAX_NAME_LENGTH)
      : name;
    this.layer = layer;
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
   * Opens a span below this one. If this one has ended, its nearest open
   * ancestor takes the new span; if the whole trace has ended, nothing is
   * recorded.
   */
  child(name: string, layer: Layer, attributes?: Attributes): Span {
    return this.trace.openSpan(this, name, layer, attributes);
  }

  /** How long the span has run, or ran, in milliseconds. */
  elapsed(): number {
    const until = this.isOpen
      ? this.trace.host.clock.monotonic()
      : this.endedAt;
    return until - this.startedAt;
  }

  /** Keeps a value under a name; the last value given stays. */
  setAttribute(key: string, value: AttributeValue | undefined): void {
    if (this.endedAt !== OPEN || value === undefined) return;
    if (key.length > MAX_KEY_LENGTH) key = clip(key, MAX_KEY_LENGTH);
    let last: Attribute | undefined;
    let count = 0;
    for (let item = this.attributes; item !== undefined; item = item.next) {
      if (item.key === key) {
        item.value = this.#fit(value, item.value) ?? item.value;
        return;
      }
      last = item;
      count++;
    }
    if (
      count >= MAX_ATTRIBUTES ||
      !this.trace.charge(ATTRIBUTE_SIZE + key.length)
    ) {
      this.droppedAttributes++;
      return;
    }
    const fitted = this.#fit(value, undefined);
    if (fitted === undefined) return;
    const added: Attribute = { key, value: fitted, next: undefined };
    if (last === undefined) this.attributes = added;
    else last.next = added;
  }

  /**
   * A value within the limits, to be kept in place of `old`; `undefined` if
   * there is no room for it, which is counted.
   */
  #fit(
    value: AttributeValue,
    old: AttributeValue | undefined,
  ): AttributeValue | undefined {
    // JavaScript callers pass what they like; JSON knows no NaN or bigint.
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
    if (size !== 0 && !this.trace.charge(size)) {
      this.droppedAttributes++;
      return undefined;
    }
    return value;
  }

  /** Notes that something happened now. */
  event(name: string, attributes?: Attributes): void {
    if (this.endedAt !== OPEN) return;
    name = clip(name, MAX_NAME_LENGTH);
    const events = this.events ??= [];
    if (
      events.length >= MAX_EVENTS ||
      !this.trace.charge(EVENT_SIZE + name.length)
    ) {
      this.droppedEvents++;
      return;
    }
    const event: { -readonly [K in keyof SpanEvent]: SpanEvent[K] } = {
      name,
      time: this.trace.now(),
    };
    if (attributes !== undefined) {
      event.attributes = this.#eventAttributes(attributes);
    }
    events.push(event);
    this.trace.host.onEvent(this, event);
  }

  #eventAttributes(attributes: Attributes): Values {
    const values = { __proto__: null } as unknown as Values;
    let count = 0;
    for (const key in attributes) {
      const value = attributes[key];
      if (value === undefined) continue;
      const kept = clip(key, MAX_KEY_LENGTH);
      if (
        ++count > MAX_EVENT_ATTRIBUTES ||
        !this.trace.charge(ATTRIBUTE_SIZE + kept.length)
      ) {
        this.droppedAttributes++;
        continue;
      }
      const fitted = this.#fit(value, undefined);
      if (fitted !== undefined) values[kept] = fitted;
    }
    return values;
  }

  /**
   * Marks the span as failed. What was thrown is noted as an `exception`
   * event (OpenTelemetry semantic conventions, exceptions on spans), once a
   * trace: the spans around only get `error.type`.
   *
   * @param error What was thrown, if anything was.
   */
  error(error?: unknown): void {
    if (this.endedAt !== OPEN) return;
    this.status = "error";
    if (error === undefined) return;
    const { type, message, stack } = describeError(error);
    this.setAttribute("error.type", type);
    if (!this.trace.isNewError(error)) return;
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

  /** Gives what opens records of their own with this span as their parent. */
  continuation(): SpanOpener {
    const { id: parentId, traceId, trace: { host } } = this;
    return (name, layer, attributes) =>
      host.records(layer)
        ? host.startTrace(name, layer, {
          traceId,
          parentId,
          ...(attributes ? { attributes } : {}),
        })
        : noopSpan;
  }
}
