/** Handlers of performance entries, by type. */
export type Handlers = Record<string, (entry: never) => void>;

/**
 * Watches the browser's performance timeline, also its past entries. Types of
 * entries that the browser doesn't support have no entries.
 *
 * @param signal Ends it.
 * @returns A function that handles waiting entries.
 */
export function watchTimeline(
  handlers: Handlers,
  signal: AbortSignal,
): () => void {
  const take = (entries: PerformanceEntryList) =>
    entries.forEach((entry) => handlers[entry.entryType]!(entry as never));
  // Users can turn it off.
  if (!globalThis.PerformanceObserver) return () => {};
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  for (const type of PerformanceObserver.supportedEntryTypes) {
    // Interactions count from 40 ms on.
    const options = { type, buffered: true, durationThreshold: 40 };
    if (handlers[type]) observer.observe(options);
  }
  signal.addEventListener("abort", () => observer.disconnect());
  return () => take(observer.takeRecords());
}
