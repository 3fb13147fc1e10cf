import { printableError } from "../../core/redact/printable.ts";
import type { TraceEvent } from "../types.ts";

type TraceEventType = TraceEvent["type"];

/** A subscribed function. Subscribing it twice makes two of these. */
interface Subscription {
  readonly listener: (event: TraceEvent) => unknown;
  warned: boolean;
}

/**
 * The subscribers of a tracer, by type of event. Callers check {@linkcode
 * Subscribers.want} before they create an event.
 */
export class Subscribers {
  readonly #subscriptions = new Map<TraceEventType, Set<Subscription>>();

  /** Whether a type of event has a listener. */
  want(type: TraceEventType): boolean {
    return this.#subscriptions.size > 0 && this.#subscriptions.has(type);
  }

  /** Adds a listener. Returns the function that removes it. */
  add(
    listener: (event: TraceEvent) => unknown,
    types: readonly TraceEventType[],
  ): () => void {
    const subscription: Subscription = { listener, warned: false };
    for (const type of types) {
      const subscriptions = this.#subscriptions.get(type) ?? new Set();
      this.#subscriptions.set(type, subscriptions.add(subscription));
    }
    return () => {
      for (const type of types) {
        const subscriptions = this.#subscriptions.get(type);
        subscriptions?.delete(subscription);
        if (subscriptions?.size === 0) this.#subscriptions.delete(type);
      }
    };
  }

  /** Calls the listeners. A listener's error doesn't affect others. */
  emit(event: TraceEvent): void {
    for (const subscription of this.#subscriptions.get(event.type) ?? []) {
      try {
        const result = subscription.listener(event);
        // An unhandled rejection would end the process.
        if (result instanceof Promise) {
          result.catch((error) => warn(subscription, error));
        }
      } catch (error) {
        warn(subscription, error);
      }
    }
  }
}

function warn(subscription: Subscription, error: unknown): void {
  if (subscription.warned) return;
  subscription.warned = true;
  console.error("A subscriber of the tracer threw:", printableError(error));
}
