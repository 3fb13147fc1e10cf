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
