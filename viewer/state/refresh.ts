import { effect } from "@preact/signals";
import { connection, refreshTrace } from "./live.ts";
import { openedTrace } from "./opened.ts";

/** The time between two readings, in milliseconds. */
const INTERVAL = 1_000;
/** Larger traces take too long to draw. */
const MAX_SPANS = 2_000;

/**
 * Reads the open trace again while a part of it is running: the stream doesn't
 * report each message of a subscription.
 */
export function startRefreshing(): void {
  effect(() => {
    const entry = openedTrace.value?.entry;
    if (!entry?.running || entry.spanCount > MAX_SPANS) return;
    if (connection.value.kind !== "live") return;
    const timer = setInterval(() => {
      if (!document.hidden) refreshTrace(entry.id);
    }, INTERVAL);
    return () => clearInterval(timer);
  });
}
