/** How many states are remembered, in both halves together. */
const MAX_STATES = 100_000;

/**
 * Remembers which states were used, so that none is used twice while it is
 * valid. Two halves: what is in the older one is forgotten with it, so neither
 * a timer nor a search is needed.
 *
 * Whoever begins and ends 50,000 sign-ins can have one forgotten early. They
 * gain nothing by it: the provider takes its code once (RFC 6749, 4.1.2).
 */
export class UsedStates {
  readonly #lifetime: number;
  #young = new Set<string>();
  #old = new Set<string>();
  /** When the halves are changed next. */
  #turn = 0;

  /** @param lifetime How long a state has to be remembered, in milliseconds. */
  constructor(lifetime: number) {
    this.#lifetime = lifetime;
  }

  /** Remembers a state. Gives `false` if it was used before. */
  use(state: string, now: number): boolean {
    if (now >= this.#turn || this.#young.size >= MAX_STATES / 2) {
      this.#old = now >= this.#turn + this.#lifetime ? new Set() : this.#young;
      this.#young = new Set();
      this.#turn = now + this.#lifetime;
    }
    if (this.#young.has(state) || this.#old.has(state)) return false;
    this.#young.add(state);
    return true;
  }
}
