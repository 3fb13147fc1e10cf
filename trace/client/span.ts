import type { Attributes, AttributeValue, Layer } from "../types.ts";
import { now, randomId } from "./clock.ts";
import { MAX_EVENTS } from "./limits.ts";
import { queueSpan, type SentTrace } from "./sender.ts";

/** Options of a span of the browser. */
export interface ClientSpanOptions {
  /** The first attributes. */
  readonly attributes?: Attributes;
  /** The start, in milliseconds since the page began to load. Default: now. */
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

/** A trace of the browser. */
export interface ClientTrace extends SentTrace {
  /** The span on top. Without it, the trace has a single span. */
  readonly span?: ClientSpan;
  /** Called when a span starts. */
  opened?(): void;
  /** Called when a span has ended. */
  ended?(endTime: number): void;
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
  readonly #trace: ClientTrace;
  readonly #record: ClientSpanRecord;

  /** @internal Creates an open span. */
  constructor(
    trace: ClientTrace,
    name: string,
    layer?: Layer,
    { attributes, startTime = now() }: ClientSpanOptions = {},
    parentId: string | undefined = trace.span?.id,
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
    return new ClientSpan(this.#trace, name, layer, options, this.id);
  }

  /** Sets an attribute. The last value stays. */
  setAttribute(key: string, value: AttributeValue): void {
    this.#record.attributes[key] = value;
  }

  /** Records that something happened now. */
  event(name: string, attributes?: Attributes): void {
    if (this.#record.events.length < MAX_EVENTS) {
      this.#record.events.push({ name, time: now(), attributes });
    }
  }

  /** Marks the span as failed, and records the error if there is one. */
  error(error?: unknown): void {
    this.#record.status = "error";
    if (!error) return;
    try {
      const { name = typeof error, message = error, stack } = Object(error);
      this.event("exception", {
        "exception.type": name,
        "exception.message": String(message),
        "exception.stacktrace": stack,
      });
    } catch {
      // Its properties throw. The caller still needs the error itself.
    }
  }

  /** @internal Replaces the name. */
  rename(name: string): void {
    this.#record.name = name;
  }

  /**
   * Ends the span. Every later call on it does nothing.
   *
   * @param endTime The end, in milliseconds since the page began to load.
   * Default: now.
   */
  end(endTime: number = now()): void {
    if (!this.#record.endTime) {
      this.#record.endTime = endTime;
      this.send();
      this.#trace.ended?.(endTime);
    }
  }

  /** @internal Sends the span, also before its end. */
  send(): void {
    try {
      queueSpan(this.#trace, JSON.stringify(this.#record));
    } catch {
      // Untyped code may have set an attribute that isn't JSON.
    }
  }
}
