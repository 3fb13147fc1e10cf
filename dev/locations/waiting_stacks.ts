import { runOutside } from "../../core/request_scope.ts";
import type { CallStack } from "./call_stack.ts";

/** Maximum stacks that wait. Under load, the lines of the others stay unknown. */
const MAX_WAITING = 4_000;
/** The time to read stacks, and the pause before it, in milliseconds. */
const SLICE = 5;
const PAUSE = 50;

/**
 * Stacks that nobody has read. They keep the variables of running functions in
 * memory, such as the rows of a query, so they are read soon.
 */
export class WaitingStacks {
  #stacks: CallStack[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Adds a stack, and returns it. */
  add(stack: CallStack): CallStack {
    this.#stacks.push(stack);
    if (this.#stacks.length > MAX_WAITING) this.#drop(MAX_WAITING / 2);
    // Timers would keep the scope of the request.
    this.#timer ??= runOutside(() => setTimeout(() => this.#read(), PAUSE));
    return stack;
  }

  /** Drops the stacks. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#drop(this.#stacks.length);
  }

  #read(): void {
    const end = performance.now() + SLICE;
    let count = 0;
    while (count < this.#stacks.length && performance.now() < end) {
      this.#stacks[count++]!.line();
    }
    this.#stacks = this.#stacks.slice(count);
    this.#timer = this.#stacks.length === 0
      ? undefined
      : setTimeout(() => this.#read(), PAUSE);
  }

  #drop(count: number): void {
    for (const stack of this.#stacks.splice(0, count)) stack.drop();
  }
}
