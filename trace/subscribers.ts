import type { TraceEvent } from "./types.ts";

type TraceEventType = TraceEvent["type"];

type Listener = (event: TraceEvent) => void;

/**
 * The subscribers of a tracer, by the kind of event they want. Nobody pays for
 * events that nobody wants: a caller asks {@linkcode Subscribers.want} before
 * it builds one.
 */
export class Subscribers {
  readonly #listeners = new Map<TraceEventType, Set<Listener>>();
  readonly #warned = new WeakSet<Listener>();

  /** Whether anybody listens to events of a kind. */
  want(type: TraceEventType): boolean {
    return this.#listeners.size > 0 && this.#listeners.has(type);
  }

  /** Adds a listener and gives the function that removes it. */
  add(listener: Listener, types: readonly TraceEventType[]): () => void {
    for (const type of types) {
      const listeners = this.#listeners.get(type);
      if (listeners === undefined) {
        this.#listeners.set(type, new Set([listener]));
      } else {
        listeners.add(listener);
      }
    }
    return () => {
      for (const type of types) {
        const listeners = this.#listeners.get(type);
        listeners?.delete(listener);
        if (listeners?.size === 0) this.#listeners.delete(type);
      }
    };
  }

  /** Tells an event. What a listener throws is its own affair. */
  emit(event: TraceEvent): void {
    for (const listener of this.#listeners.get(event.type) ?? []) {
      try {
        listener(event);
      } catch (error) {
        if (this.#warned.has(listener)) continue;
        this.#warned.add(listener);
        console.error("A subscriber of the tracer threw:", error);
      }
    }
  }
}
