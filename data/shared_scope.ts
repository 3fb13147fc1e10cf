import { type OnAsked, WatchScope } from "../core/request_scope.ts";
import { CacheError } from "./error.ts";

/**
 * The scope of a computation whose value several callers share. By default, code
 * inside can't ask for the user.
 */
export class SharedScope extends WatchScope {
  readonly #key: string;
  #error: CacheError | undefined;

  /**
   * Creates a scope inside the current one.
   *
   * @param key The key of the value.
   * @param onAsked Called when the computation asks for the user. Default: it
   * may not.
   * @param computation The computation, if values inside become parts of it.
   */
  constructor(key: string, onAsked?: OnAsked, computation?: object) {
    super(onAsked ?? ((isOwn) => this.#refuse(isOwn)), computation);
    this.#key = key;
  }

  /**
   * Runs a function in the scope.
   *
   * @throws {CacheError} `PERSONAL` if it asks for the user, even if it catches
   * the error: `app.fetch()` turns errors into pages.
   */
  compute(fn: () => unknown): Promise<unknown> {
    return this.run(async () => {
      // Awaited inside, because a lazy query runs when it is awaited.
      const value = await fn();
      if (this.#error !== undefined) throw this.#error;
      return value;
    });
  }

  #refuse(isOwn: boolean): boolean {
    // The computation sent this anonymous request itself.
    if (isOwn) return false;
    const key = JSON.stringify(this.#key.slice(0, 100));
    throw this.#error = new CacheError(
      "PERSONAL",
      `Cannot compute ${key}: the function must not ask who sent the request, because all callers share its value; pass the user's id as an argument`,
    );
  }
}
