import { Delay } from "../delay.ts";
import { type Callable, CallStack } from "./call_stack.ts";

/** Stacks that are captured at once, and more of them after each pause. */
const MAX_WAITING = 5_000;
const ADDED = 100;
/** The time to read stacks, and the pause before it, in milliseconds. */
const SLICE = 5;
const PAUSE = 50;

/**
 * Captures stacks and reads them soon. Until then, they keep the variables of
 * running functions in memory, such as the rows of a query.
 *
 * A developer's requests are all captured. Under load, the lines of most spans
 * stay unknown, so that the app keeps its speed.
 */
export class WaitingStacks {
  #stacks: CallStack[] = [];
  #allowed = MAX_WAITING;
  readonly #delay = new Delay(() => this.#readSome());

  /** Captures the running call stack, except under load. */
  capture(caller: Callable): CallStack | undefined {
    if (this.#allowed === 0) return undefined;
    this.#allowed--;
    const stack = new CallStack(caller);
    this.#stacks.push(stack);
    this.#delay.start(PAUSE);
    return stack;
  }

  /** Forgets the stacks. */
  close(): void {
    this.#delay.cancel();
    this.#stacks = [];
  }

  #readSome(): void {
    const end = performance.now() + SLICE;
    let count = 0;
    while (count < this.#stacks.length && performance.now() < end) {
      this.#stacks[count++]!.line();
    }
    this.#stacks = this.#stacks.slice(count);
    this.#allowed = Math.min(this.#allowed + ADDED, MAX_WAITING);
    const isDone = this.#stacks.length === 0 && this.#allowed === MAX_WAITING;
    if (!isDone) this.#delay.start(PAUSE);
  }
}
