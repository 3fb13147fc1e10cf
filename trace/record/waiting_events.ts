import type { RemoteEvent } from "../types.ts";
import { sizeOfEvent, TRACE_SIZE } from "./limits.ts";

/** Events whose trace isn't stored yet. The oldest are dropped first. */
export class WaitingEvents {
  #events: RemoteEvent[] = [];
  #size = 0;

  /** Adds an event. Returns whether it fits. */
  add(item: RemoteEvent): boolean {
    const size = sizeOfEvent(item.event);
    if (size > TRACE_SIZE) return false;
    this.#events.push(item);
    this.#size += size;
    let surplus = 0;
    while (this.#size > TRACE_SIZE) {
      this.#size -= sizeOfEvent(this.#events[surplus++]!.event);
    }
    this.#events.splice(0, surplus);
    return true;
  }

  /** Removes and returns the events of a trace. */
  take(traceId: string): RemoteEvent[] {
    if (this.#events.length === 0) return [];
    const { taken = [], rest = [] } = Object.groupBy(
      this.#events,
      (item) => item.traceId === traceId ? "taken" : "rest",
    );
    this.#events = rest;
    for (const { event } of taken) this.#size -= sizeOfEvent(event);
    return taken;
  }
}
