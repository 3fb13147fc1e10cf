/**
 * Returns the nearest-rank percentile of ascending numbers, which is always one
 * of them.
 */
export function percentile(
  ascending: ArrayLike<number>,
  percent: number,
): number {
  const rank = Math.ceil((percent / 100) * ascending.length);
  return ascending[Math.max(rank, 1) - 1] ?? 0;
}

/** Returns the same for numbers in any order. */
export function percentileOf(
  values: readonly number[],
  percent: number,
): number {
  return percentile(values.toSorted((a, b) => a - b), percent);
}
