import { getActiveSpan } from "../record/context.ts";
import type { Span } from "../types.ts";
import { inSpan } from "./in_span.ts";

/**
 * Traces the hydration of an island, as a span `hydrate:<component>`.
 *
 * @param component Names the component.
 * @param hydrate Hydrates it.
 * @returns What `hydrate` returns.
 *
 * @example
 * ```ts
 * import { traceHydration } from "@quartet/kit/trace";
 *
 * const root = traceHydration("Cart", () => ({ mounted: true }));
 * console.assert(root.mounted);
 * ```
 */
export function traceHydration<T>(
  component: string,
  hydrate: (span: Span) => T,
): T {
  return inSpan(`hydrate:${component}`, "islands", hydrate, {
    "app.island.component": component,
  });
}

/** What {@linkcode recordHydration} notes. */
export interface HydrationRecord {
  /** When the island is hydrated: `load`, `idle`, `visible`, … */
  readonly strategy?: string;
  /** How large its properties are as JSON, in bytes. */
  readonly propsSize?: number;
}

/** Notes on the active span, as an event `hydration`, how an island came up. */
export function recordHydration(
  component: string,
  { strategy, propsSize }: HydrationRecord = {},
): void {
  getActiveSpan()?.event("hydration", {
    "app.island.component": component,
    "app.island.strategy": strategy,
    "app.island.props_size": propsSize,
  });
}
