import type { Attributes, AttributeValue, Layer } from "../types.ts";
import { now, randomId } from "./clock.ts";

/** Options of a span of the browser. */
export interface ClientSpanOptions {
  /** The first attributes. */
  readonly attributes?: Attributes;
  /** The start, in epoch milliseconds. Default: now. */
  readonly startTime?: number;
}

/** The record of a span, as the server reads it. */
interface ClientSpanRecord {
  readonly id: string;
  readonly parentId: string | null;
  name: string;
  readonly layer: Layer;
  status: "ok" | "error";
  readonly startTime: number;
  endTime?: number;
  readonly attributes: Record<string, AttributeValue>;
  readonly events: unknown[];
}

/** The trace of a span. */
export interface SpanTrace {
  /** 32 lower-case hex digits. */
  readonly id: string;
  /** Called when a span starts. */
  opened(): void;
  /** Called when a span ends, with its record as JSON. */
  ended(json: string, endTime: number): void;
}

// The server cuts names, keys, and the number of attributes further.
const MAX_LENGTH = 4096;
const MAX_EVENTS = 64;

/**
 * A running span of the browser, from a {@linkcode ClientTracer} or from
 * `child` of another span.
 *
 * @example
 * ```ts
 * import { initClientTracing } from "@quartet/kit/trace/client";
 *
 * const span = initClientTracing().startSpan("filter:countries");
 * span.setAttribute("countries", 250);
 * const step = span.child("sort");
 * step.end();
 * span.end();
 * ```
 */
export class ClientSpan {
  /** 16 lower-case hex digits. */
  readonly id: string = randomId(1);
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  readonly #trace: SpanTrace;
  readonly #record: ClientSpanRecord;

  /** @internal Creates an open span. */
  constructor(
    trace: SpanTrace,
    parentId: string | null,
    name: string,
    layer: Layer = "custom",
    options: ClientSpanOptions = {},
  ) {
    this.#trace = trace;
    this.traceId = trace.id;
    this.#record = {
      id: this.id,
      parentId,
      name: clip(name),
      layer,
      status: "ok",
      startTime: options.startTime ?? now(),
      attributes: keep({}, options.attributes),
      events: [],
    };
    trace.opened();
  }

  /** Opens a span below this one. */
  child(name: string, layer?: Layer, options?: ClientSpanOptions): ClientSpan {
    return new ClientSpan(this.#trace, this.id, name, layer, options);
  }

  /** Sets an attribute. The last value stays. */
  setAttribute(key: string, value: AttributeValue): void {
    keep(this.#record.attributes, { [key]: value });
  }

  /** Records that something happened now. */
  event(name: string, attributes?: Attributes): void {
    const { events } = this.#record;
    if (events.length < MAX_EVENTS) {
      events.push({
        name: clip(name),
        time: now(),
        attributes: keep({}, attributes),
      });
    }
  }

  /** Marks the span as failed, and records the error if there is one. */
  error(error?: unknown): void {
    this.#record.status = "error";
    if (error !== undefined) {
      const { name = typeof error, message = error, stack } = Object(error);
      this.setAttribute("error.type", name);
      this.event("exception", {
        "exception.type": name,
        "exception.message": message,
        "exception.stacktrace": stack,
      });
    }
  }

  /** @internal Replaces the name. */
  rename(name: string): void {
    this.#record.name = clip(name);
  }

  /** @internal Sends the span before its end. */
  announce(): void {
    this.#send(this.#record.startTime, { "app.open": true });
  }

  /**
   * Ends the span. Every later call on it does nothing.
   *
   * @param endTime The end, in epoch milliseconds. Default: now.
   */
  end(endTime: number = now()): void {
    if (!this.#record.endTime) {
      this.#record.endTime = endTime;
      this.#send(endTime);
    }
  }

  #send(endTime: number, more?: Attributes): void {
    const record = this.#record;
    const attributes = { ...record.attributes, ...more };
    this.#trace.ended(
      JSON.stringify({ ...record, endTime, attributes }),
      endTime,
    );
  }
}

/** Adds the defined attributes to `values`. */
function keep(
  values: Record<string, AttributeValue>,
  attributes: Attributes = {},
): Record<string, AttributeValue> {
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined) {
      // Untyped code may pass anything, and JSON has no bigint.
      values[key] = typeof value === "number" || typeof value === "boolean"
        ? value
        : clip(value);
    }
  }
  return values;
}

function clip(text: unknown): string {
  return String(text).slice(0, MAX_LENGTH);
}
