import { currentScope, RequestScope, runInScope } from "./request_scope.ts";

/**
 * A scope that observes the code inside it: whether it asks for the user,
 * refuses the request, or reads cookies.
 */
export class WatchScope extends RequestScope {
  readonly #onAsked: ((isOwn: boolean) => boolean) | undefined;
  #isOver = false;

  /**
   * Creates a scope inside the current one.
   *
   * @param onAsked Called instead of marking the scope as personal. See
   * {@linkcode RequestScope.asked}.
   * @param computation The computation that this scope starts, if any.
   */
  constructor(onAsked?: (isOwn: boolean) => boolean, computation?: object) {
    super(undefined, undefined, currentScope(), computation);
    this.#onAsked = onAsked;
  }

  override get isOver(): boolean {
    return this.#isOver;
  }

  override asked(isOwn: boolean): boolean {
    if (this.#isOver) return true;
    return this.#onAsked?.(isOwn) ?? super.asked(isOwn);
  }

  /** Runs `fn` in the scope. */
  run<T>(fn: () => T): T {
    return runInScope(this, fn);
  }

  /** Ends the scope. Code that still runs inside no longer affects it. */
  end(): void {
    this.#isOver = true;
  }
}
