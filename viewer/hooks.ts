/**
 * What a component keeps from one drawing to the next: the hooks that this page
 * uses, with the meaning that they have in `preact/hooks`. That brings a dozen
 * others, and would be half a kilobyte in the page.
 *
 * @module
 */

import { type Signal, signal } from "@preact/signals";

/** What one call of a hook keeps. */
interface Slot {
  readonly inputs: readonly unknown[];
  readonly value: unknown;
}

/** What a component keeps. */
export interface Memory {
  /** What its hooks keep, in the order of their calls. */
  readonly slots: Slot[];
  /** Effects that are to run once it is in the page. */
  readonly waiting: (() => void)[];
  /** What ends the effects that have run. */
  readonly cleanups: Map<number, () => void>;
}

/** The memory of the component that is being drawn, and the next call. */
let memory: Memory;
let next = 0;

/** Calls `draw` with the hooks of one component. */
export function drawWith<T>(own: Memory, draw: () => T): T {
  memory = own;
  next = 0;
  return draw();
}

/** What `make` gave when the inputs were last others than the time before. */
export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T {
  const { slots } = memory;
  const place = next++;
  const known = slots[place];
  if (known && inputs.every((input, i) => input === known.inputs[i])) {
    return known.value as T;
  }
  const value = make();
  slots[place] = { inputs, value };
  return value;
}

/** A place for something that isn't drawn. */
export function useRef<T>(current: T): { current: T } {
  return useMemo(() => ({ current }), []);
}

/** A signal of a component's own. */
export function useSignal<T>(initial: T): Signal<T> {
  return useMemo(() => signal(initial), []);
}

/**
 * Runs something when the component is in the page, and again when inputs have
 * changed; what it returns runs before that, and when the component goes.
 */
export function useLayoutEffect(
  run: () => (() => void) | void,
  inputs: readonly unknown[],
): void {
  const { waiting, cleanups } = memory;
  const place = next;
  useMemo(() => {
    waiting.push(() => {
      cleanups.get(place)?.();
      cleanups.set(place, run() ?? (() => {}));
    });
  }, inputs);
}

/** Hears of the size of an element, when it is first drawn and when it changes. */
export function useSize(
  ref: { readonly current: Element | null },
  hear: (size: DOMRectReadOnly) => void,
): void {
  const latest = useRef(hear);
  latest.current = hear;
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      latest.current(entry!.contentRect)
    );
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, []);
}

/** What the attribute `data-<name>` says of what was clicked on. */
export function clicked(event: MouseEvent, name: string): string | undefined {
  return (event.target as Element)
    .closest<HTMLElement>(`[data-${name}]`)?.dataset[name];
}

/** Turns an option on or off. */
export function flip(option: Signal<boolean>): void {
  option.value = !option.value;
}

/** Runs something once what has just been drawn is on the screen. */
export function afterPaint(run: () => void): void {
  requestAnimationFrame(() => setTimeout(run));
}
