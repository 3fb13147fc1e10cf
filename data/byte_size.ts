const WORD = 8;
/** Maximum values to measure in one record. */
const MAX_LOOKS = 1_000;

/**
 * Estimates the memory that a value takes, in bytes. For typical data, the result
 * is right within a factor of two. In large collections, only a sample is measured.
 *
 * @param value The value.
 * @param limit Measuring stops above this size.
 */
export function byteSize(value: unknown, limit: number): number {
  const seen = new Set<object>();
  let looks = 0;
  return measure(value);

  function measure(value: unknown): number {
    if (typeof value === "string") return 16 + value.length * 2;
    if (typeof value === "bigint") return 16 + value.toString(16).length / 2;
    if (typeof value !== "object" || value === null) return WORD;
    if (seen.has(value) || looks++ > MAX_LOOKS) return WORD;
    seen.add(value);
    if (ArrayBuffer.isView(value)) return 64 + value.byteLength;
    if (value instanceof ArrayBuffer) return 64 + value.byteLength;
    if (Array.isArray(value)) {
      return 32 + value.length * WORD + sample(value, value.length);
    }
    if (value instanceof Map) {
      return 64 + value.size * 5 * WORD + sample(value.keys(), value.size) +
        sample(value.values(), value.size);
    }
    if (value instanceof Set) {
      return 64 + value.size * 4 * WORD + sample(value.values(), value.size);
    }
    const keys = Object.keys(value);
    // Large objects are dictionaries, which hold their keys. Small ones share
    // their keys with other objects of the same shape.
    const own = keys.length > 64 ? 6 * WORD : WORD;
    return 24 + keys.length * own + sample(
      keys.values().map((key) => (value as Record<string, unknown>)[key]),
      keys.length,
    );
  }

  /** Estimates the size of `count` values from the first hundred. */
  function sample(values: Iterable<unknown>, count: number): number {
    let size = 0;
    let measured = 0;
    for (const value of values) {
      if (measured === 100 || size > limit || looks > MAX_LOOKS) break;
      size += measure(value);
      measured++;
    }
    return measured === 0 ? 0 : size * (count / measured);
  }
}
