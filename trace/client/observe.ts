/**
 * Calls `take` with each entry of a type, also past ones.
 *
 * @returns Whether the browser supports the type.
 */
export type Observe = <T extends PerformanceEntry>(
  type: string,
  take: (entry: T) => void,
) => boolean;

/**
 * Watches the browser's performance timeline. Types of entries that the browser
 * doesn't support have no entries.
 *
 * @param signal Ends it.
 * @returns A function that observes, and one that handles waiting entries.
 */
export function watchTimeline(
  signal: AbortSignal,
): [observe: Observe, drain: () => void] {
  const drains: (() => void)[] = [];
  return [
    (type, take) => {
      if (!PerformanceObserver.supportedEntryTypes.includes(type)) return false;
      const takeAll = (entries: PerformanceEntryList) =>
        entries.forEach(take as (entry: PerformanceEntry) => void);
      const observer = new PerformanceObserver((list) =>
        takeAll(list.getEntries())
      );
      // Interactions count from 40 ms on.
      const options = { type, buffered: true, durationThreshold: 40 };
      observer.observe(options);
      drains.push(() => takeAll(observer.takeRecords()));
      signal.addEventListener("abort", () => observer.disconnect());
      return true;
    },
    () => drains.forEach((drain) => drain()),
  ];
}
