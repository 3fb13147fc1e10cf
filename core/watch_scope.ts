import { currentScope, RequestScope, runInScope } from "./request_scope.ts";
import type { RequestSession } from "./request_session.ts";

/**
 * Called when code in a scope asks for the user. See
 * {@linkcode RequestScope.asked}.
 *
 * @returns Whether the scopes around depend on the answer as well. `undefined`:
 * as in any scope.
 */
export type OnAsked = (
  isOwn: boolean,
  session?: RequestSession,
) => boolean | undefined;

/**
 * A scope that observes the code inside it: whether it asks for the user,
 * refuses the request, or reads cookies.
 */
export class WatchScope extends RequestScope {
  readonly #onAsked: OnAsked | undefined;
  #isOver = false;

  /**
   * Creates a scope inside the current one.
   *
   * @param onAsked Called before the scope is marked as personal.
   * @param computation The computation that this scope starts, if any.
   */
  constructor(onAsked?: OnAsked, computation?: object) {
    super(undefined, undefined, currentScope(), computation);
    this.#onAsked = onAsked;
  }

  override get isOver(): boolean {
    return this.#isOver;
  }

  override asked(isOwn: boolean, session?: RequestSession): boolean {
    if (this.#isOver) return true;
    return this.#onAsked?.(isOwn, session) ?? super.asked(isOwn, session);
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
