import type { Attributes, AttributeValue, Layer } from "../types.ts";
import { now, randomId } from "./clock.ts";
import { MAX_EVENTS } from "./limits.ts";

/** Options of a span of the browser. */
export interface ClientSpanOptions {
  /** The first attributes. */
  readonly attributes?: Attributes;
  /** The start, in epoch milliseconds. Default: now. */
  readonly startTime?: number;
}

/** The record of a span, as the server reads it. It knows the defaults. */
interface ClientSpanRecord {
  readonly id: string;
  readonly parentId: string | undefined;
  name: string;
  readonly layer: Layer | undefined;
  status?: "error";
  readonly startTime: number;
  endTime?: number;
  readonly attributes: Record<string, AttributeValue | undefined>;
  readonly events: unknown[];
}

/** The trace of a span. */
export interface SpanTrace {
  /** 32 lower-case hex digits. */
  readonly id: string;
  /** Called when a span starts. */
  opened?(): void;
  /** Called when a span ends, with its record as JSON. */
  ended(json: string, endTime: number): void;
}

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
  readonly id: string = randomId();
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  readonly #trace: SpanTrace;
  readonly #record: ClientSpanRecord;

  /** @internal Creates an open span. */
  constructor(
    trace: SpanTrace,
    parentId: string | undefined,
    name: string,
    layer?: Layer,
    { attributes, startTime = now() }: ClientSpanOptions = {},
  ) {
    this.#trace = trace;
    this.traceId = trace.id;
    this.#record = {
      id: this.id,
      parentId,
      name,
      layer,
      startTime,
      attributes: { ...attributes },
      events: [],
    };
    trace.opened?.();
  }

  /** Opens a span below this one. */
  child(name: string, layer?: Layer, options?: ClientSpanOptions): ClientSpan {
    return new ClientSpan(this.#trace, this.id, name, layer, options);
  }

  /** Sets an attribute. The last value stays. */
  setAttribute(key: string, value: AttributeValue): void {
    this.#record.attributes[key] = value;
  }

  /** Records that something happened now. */
  event(name: string, attributes?: Attributes): void {
    const { events } = this.#record;
    if (events.length < MAX_EVENTS) {
      events.push({ name, time: now(), attributes });
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
        "exception.message": `${message}`,
        "exception.stacktrace": stack,
      });
    }
  }

  /** @internal Replaces the name. */
  rename(name: string): void {
    this.#record.name = name;
  }

  /**
   * Ends the span. Every later call on it does nothing.
   *
   * @param endTime The end, in epoch milliseconds. Default: now.
   */
  end(endTime: number = now()): void {
    if (!this.#record.endTime) {
      this.#record.endTime = endTime;
      this.send(endTime);
    }
  }

  /** @internal Sends the span, also before its end. */
  send(endTime: number): void {
    try {
      const json = JSON.stringify({ ...this.#record, endTime });
      this.#trace.ended(json, endTime);
    } catch {
      // Untyped code may have set an attribute that isn't JSON.
    }
  }
}
