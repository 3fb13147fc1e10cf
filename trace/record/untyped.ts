/**
 * Arguments that untyped code passes to spans. They may be anything. Tracing must
 * neither fail that code nor record what no reader takes.
 *
 * @module
 */

import { show } from "../../core/check/show.ts";
import { clip } from "../../core/redact/size.ts";
import { isLayer, LAYERS } from "../layers.ts";
import type { Layer } from "../types.ts";

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
