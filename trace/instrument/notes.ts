/**
 * Functions that record something on the active span. If nothing is traced,
 * they do nothing.
 *
 * @module
 */

import { getActiveSpan } from "../record/context.ts";

/**
 * Records the matched route on the active span and on the span of the request,
 * as `http.route`.
 *
 * @param pattern The route's pattern, such as `/countries/:code`.
 */
export function recordRouteMatch(pattern: string): void {
  const span = getActiveSpan();
  span?.setAttribute("http.route", pattern);
  span?.root.setAttribute("http.route", pattern);
}

/**
 * Records the source, number and size of a loader's data on the active span.
 */
export function recordLoaderMetrics(metrics: {
  /** The source of the data. */
  readonly cache?: "hit" | "stale" | "miss";
  /** The number of items. */
  readonly items?: number;
  /** The size of the data, in bytes. */
  readonly size?: number;
}): void {
  const span = getActiveSpan();
  for (const key of ["cache", "items", "size"] as const) {
    const value = metrics[key];
    if (value !== undefined) span?.setAttribute(`app.loader.${key}`, value);
  }
}

/**
 * Records the validation of a form on the active span, as an event
 * `form.validation`. It keeps the names of the invalid fields, never a value.
 */
export function recordFormValidation({ errors = {} }: {
  /** The problems by field. Empty or absent if there are none. */
  readonly errors?: Readonly<Record<string, string>>;
}): void {
  const fields = Object.keys(errors);
  getActiveSpan()?.event("form.validation", {
    "app.form.valid": fields.length === 0,
    "app.form.invalid_fields": fields.join(", ") || undefined,
  });
}

/**
 * Records the change of a signal, as a span `signal.update` without a duration.
 *
 * @param name The name of the signal.
 * @param subscribers The number of effects and computed signals that depend on
 * it.
 *
 * @example
 * ```ts
 * import { recordSignalUpdate } from "@quartet/kit/trace";
 *
 * recordSignalUpdate("cart.total", 2);
 * ```
 */
export function recordSignalUpdate(name: string, subscribers?: number): void {
  getActiveSpan()?.child("signal.update", "signals", {
    "app.signal.name": name,
    "app.signal.subscribers": subscribers,
  }).end();
}

/**
 * Records that several signals changed at once, as a span `signal.batch`
 * without a duration.
 *
 * @param names The names of the signals.
 */
export function recordSignalBatch(names: readonly string[]): void {
  getActiveSpan()?.child("signal.batch", "signals", {
    "app.signal.names": names.join(", "),
    "app.signal.count": names.length,
  }).end();
}

/**
 * Records the validation of a procedure's input on the active span, as an event
 * `rpc.validation`.
 */
export function recordRPCValidation({ valid, duration }: {
  /** Whether the input was accepted. */
  readonly valid: boolean;
  /** How long the validation took, in milliseconds. */
  readonly duration?: number;
}): void {
  getActiveSpan()?.event("rpc.validation", {
    "app.rpc.valid": valid,
    "app.rpc.validation_duration": duration,
  });
}

/** Records the hydration of an island on the active span, as `hydration`. */
export function recordHydration(
  component: string,
  { strategy, propsSize }: {
    /** When the island is hydrated, such as `load`, `idle` or `visible`. */
    readonly strategy?: string;
    /** The size of its properties as JSON, in bytes. */
    readonly propsSize?: number;
  } = {},
): void {
  getActiveSpan()?.event("hydration", {
    "app.island.component": component,
    "app.island.strategy": strategy,
    "app.island.props_size": propsSize,
  });
}

/**
 * Marks the active span as failed and records the error.
 *
 * @param error The thrown value.
 *
 * @example
 * ```ts
 * import { traceError } from "@quartet/kit/trace";
 *
 * try {
 *   JSON.parse("{");
 * } catch (error) {
 *   traceError(error);
 * }
 * ```
 */
export function traceError(error: unknown): void {
  getActiveSpan()?.error(error);
}
