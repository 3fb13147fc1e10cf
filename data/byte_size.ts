const WORD = 8;
/** How many values of one record are looked at. */
const MAX_LOOKS = 1_000;

/**
 * Estimates what a value takes in memory, in bytes: right within a factor of
 * two for data as programs keep it. Of a large collection a sample is measured.
 *
 * @param value The value.
 * @param limit Above this nobody cares how much it is.
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
    // A dictionary holds its keys itself, a record shares them with its like.
    const own = keys.length > 64 ? 6 * WORD : WORD;
    return 24 + keys.length * own + sample(
      keys.values().map((key) => (value as Record<string, unknown>)[key]),
      keys.length,
    );
  }

  /** The size of `count` values, by the first hundred of them. */
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
