/**
 * Arithmetic helpers.
 *
 * @module
 */

/**
 * Returns the nearest number from `least` to `most`. `most` wins if it is
 * smaller.
 */
export function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Returns the sum of `valueOf` over all items. */
export function sumOf<T>(
  items: readonly T[],
  valueOf: (item: T) => number,
): number {
  let sum = 0;
  for (const item of items) sum += valueOf(item);
  return sum;
}

/** Returns the maximum of `valueOf` over all items, and at least `least`. */
export function mostOf<T>(
  items: readonly T[],
  valueOf: (item: T) => number,
  least = 0,
): number {
  let most = least;
  for (const item of items) most = Math.max(most, valueOf(item));
  return most;
}

/** Returns the least 1, 2 or 5 times a power of ten that isn't below a number. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5].find((step) => step * power >= value) ?? 10;
  return step * power;
}
