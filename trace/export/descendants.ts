import type { SpanData } from "../types.ts";

/** Returns the ids of some spans of a trace, and of all spans below them. */
export function withDescendants(
  tops: readonly SpanData[],
  spans: readonly SpanData[],
): Set<string> {
  const ids = new Set(tops.map(({ id }) => id));
  if (ids.size === 0) return ids;
  const children = Map.groupBy(spans, ({ parentId }) => parentId);
  // The loop also visits the ids that it adds.
  for (const id of ids) {
    for (const child of children.get(id) ?? []) ids.add(child.id);
  }
  return ids;
}
