import { type Signal, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

/** A signal of a component's own, which lives as long as it does. */
export function useSignal<T>(initial: T): Signal<T> {
  return useMemo(() => signal(initial), []);
}
