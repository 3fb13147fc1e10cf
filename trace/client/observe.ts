/** Handlers of performance entries, by type. */
export type Handlers = Record<string, (entry: never) => void>;

/**
 * Watches the browser's performance timeline, also its past entries. Types of
 * entries that the browser doesn't support have no entries.
 *
 * @returns A function that handles waiting entries.
 */
export function watchTimeline(handlers: Handlers): () => void {
  const take = (entries: PerformanceEntryList) =>
    entries.forEach((entry) => handlers[entry.entryType]!(entry as never));
  // Users can turn it off.
  if (!globalThis.PerformanceObserver) return () => {};
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  for (const type of PerformanceObserver.supportedEntryTypes) {
    if (handlers[type]) {
      observer.observe(
        {
          type,
          buffered: true,
          // Interactions count from 40 ms on.
          durationThreshold: 40,
        } as Parameters<PerformanceObserver["observe"]>[0],
      );
    }
  }
  return () => take(observer.takeRecords());
}
