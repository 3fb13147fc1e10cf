import type { Transformer } from "../transformer.ts";

/** The value that a message carries: with a transformer, as its text. */
export function decode(
  transformer: Transformer | undefined,
  sent: unknown,
): unknown {
  return transformer && sent !== undefined
    ? transformer.parse(sent as string)
    : sent;
}
