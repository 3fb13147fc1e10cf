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
  readonly name: string;
  readonly layer: Layer;
  status: "ok" | "error";
  readonly startTime: number;
  endTime?: number;
  readonly attributes: Record<string, AttributeValue>;
  readonly events: unknown[];
}

/** Called with the record of an ended span, as JSON. */
export type TakeSpan = (traceId: string, json: string) => void;

// The server rejects anything larger. It cuts names, keys and the attributes of
// events further.
const MAX_LENGTH = 4096;
const MAX_ENTRIES = 64;

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
  readonly id: string = randomId(8);
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  readonly #take: TakeSpan | undefined;
  readonly #record: ClientSpanRecord;

  /** @internal Creates an open span. */
  constructor(
    take: TakeSpan | undefined,
    traceId: string,
    parentId: string | null,
    name: string,
    layer: Layer = "custom",
    options: ClientSpanOptions = {},
  ) {
    this.#take = take;
    this.traceId = traceId;
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
  }

  /** Opens a span below this one. */
  child(name: string, layer?: Layer, options?: ClientSpanOptions): ClientSpan {
    return new ClientSpan(
      this.#take,
      this.traceId,
      this.id,
      name,
      layer,
      options,
    );
  }

  /** Sets an attribute. The last value stays. */
  setAttribute(key: string, value: AttributeValue): void {
    keep(this.#record.attributes, { [key]: value });
  }

  /** Records that something happened now. */
  event(name: string, attributes?: Attributes): void {
    const { events } = this.#record;
    if (events.length < MAX_ENTRIES) {
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

  /**
   * Ends the span. Every later call on it does nothing.
   *
   * @param endTime The end, in epoch milliseconds. Default: now.
   */
  end(endTime: number = now()): void {
    if (!this.#record.endTime) {
      this.#record.endTime = endTime;
      this.#take?.(this.traceId, JSON.stringify(this.#record));
    }
  }
}

/** Adds the defined attributes to `values`, up to the limit. */
function keep(
  values: Record<string, AttributeValue>,
  attributes: Attributes = {},
): Record<string, AttributeValue> {
  for (const key in attributes) {
    const value = attributes[key];
    if (
      value !== undefined &&
      (key in values || Object.keys(values).length < MAX_ENTRIES)
    ) {
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
