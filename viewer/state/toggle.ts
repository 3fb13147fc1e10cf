/**
 * Small changes of signals and sets.
 *
 * @module
 */

import type { Signal } from "@preact/signals";

/** Turns an option on or off. */
export function toggle(option: Signal<boolean>): void {
  option.value = !option.value;
}

/** Returns the set with an item added, or removed if it was in there. */
export function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  return set.has(item) ? without(set, [item]) : new Set(set).add(item);
}

/** Returns the set without some items; the same set if it has none of them. */
export function without<T>(
  set: ReadonlySet<T>,
  items: readonly T[],
): ReadonlySet<T> {
  const rest = new Set([...set].filter((item) => !items.includes(item)));
  return rest.size === set.size ? set : rest;
}
