/**
 * Durations, ages and numbers in words.
 *
 * @module
 */

/** Returns a duration, such as `0.4 ms`, `120 ms` or `1.2 s`. */
export function durationText(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** Returns a time between now and then, such as `40 ms`, `2 s` or `3 min`. */
export function ageText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** Returns `1 query`, or `2 queries`. */
export function countText(
  count: number,
  one: string,
  many = `${one}s`,
): string {
  return `${count} ${count === 1 ? one : many}`;
}
