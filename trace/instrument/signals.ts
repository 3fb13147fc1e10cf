import { getActiveSpan } from "../record/context.ts";

/**
 * Notes that a signal has changed, as a span `signal.update` below the active
 * one. It has no length: a signal's update is over when it can be told.
 *
 * @param name Names the signal.
 * @param subscribers How many effects and computed signals depend on it.
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
 * Notes that several signals have changed at once, as a span `signal.batch`
 * below the active one.
 *
 * @param names Names the signals.
 */
export function recordSignalBatch(names: readonly string[]): void {
  getActiveSpan()?.child("signal.batch", "signals", {
    "app.signal.names": names.join(", "),
    "app.signal.count": names.length,
  }).end();
}
