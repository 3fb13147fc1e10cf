/**
 * Markers of joined traces: the process of a span, and its numbers.
 *
 * @module
 */

import { attributeText } from "../../trace/export/attributes.ts";
import { isClientSpan } from "../../trace/export/semantics.ts";
import type { SpanData } from "../../trace/types.ts";

/** The part of a span that carries its markers. */
type Marked = Pick<SpanData, "attributes">;

/** The name of the process that recorded the traces. */
export const HOME = "server";

/**
 * Returns the process of a span: `browser`, the name of another service, or
 * {@linkcode HOME}.
 */
export function processOf(span: Marked): string {
  if (isClientSpan(span)) return "browser";
  return attributeText(span, "service.name") || HOME;
}

/** Returns a number among a span's attributes. `undefined` for anything else. */
export function numberOf(
  { attributes }: Marked,
  name: string,
): number | undefined {
  const value = attributes[name];
  return Number.isFinite(value) ? value as number : undefined;
}
