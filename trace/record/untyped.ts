/**
 * Values that code passes to spans without types: arguments, and what it throws.
 * They may be anything. Tracing must neither fail that code nor record what no
 * reader takes.
 *
 * @module
 */

import { show } from "../../core/check/rules.ts";
import {
  aggregateText,
  stackText,
  textWithCauses,
  thrownText,
} from "../../core/redact/printable.ts";
import { clip, redactMessage } from "../../core/redact/redact.ts";
import { isLayer, LAYERS } from "../export/semantics.ts";
import type { Layer } from "../types.ts";
import { MAX_TEXT } from "./limits.ts";

let isNoted = false;

/** Returns a value of an unsupported type as text. */
export function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "(a value that can't be turned into text)";
  }
}

/** Returns a name as text of at most `maxLength` characters. */
export function textOf(name: unknown, maxLength: number): string {
  return clip(typeof name === "string" ? name : asText(name), maxLength);
}

/** Returns the layer of a span: `custom` for an unknown one, which is printed once. */
export function layerOf(layer: unknown, name: string): Layer {
  if (isLayer(layer)) return layer;
  if (!isNoted) {
    isNoted = true;
    console.warn(
      "Traces: the layer of span %s is recorded as custom. It must be one of %s, received %s.",
      JSON.stringify(name),
      LAYERS.join(", "),
      show(layer),
    );
  }
  return "custom";
}

/**
 * Describes any thrown value: its class, such as `TypeError`, its message, and
 * its stack. The stacks of its causes and inner errors follow. It never throws,
 * even if the value's properties do.
 */
export function describeError(error: unknown) {
  const type = typeof error;
  const ownStack = (error: Error) => stackText(error, MAX_TEXT);
  const stackOf = (error: Error) =>
    ownStack(error)?.concat(aggregateText(error, ownStack));
  try {
    if (!(error instanceof Error)) {
      return { type, message: thrownText(error, MAX_TEXT), stack: undefined };
    }
    return {
      type: String(error.name || "Error"),
      message: redactMessage(String(error.message), MAX_TEXT),
      stack: textWithCauses(error, stackOf, MAX_TEXT) || undefined,
    };
  } catch {
    const message = "(a thrown value that can't be described)";
    return { type, message, stack: undefined };
  }
}
