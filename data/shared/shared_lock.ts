import type { Lock } from "../store.ts";
import type { Backend } from "./backend.ts";

/** A lock in a backend. */
export class SharedLock implements Lock {
  readonly token: string = crypto.randomUUID();
  readonly #backend: Backend;
  readonly #key: string;
  #released: Promise<void> | undefined;

  /** Creates a lock that isn't held yet. */
  constructor(backend: Backend, key: string) {
    this.#backend = backend;
    this.#key = key;
  }

  release(): Promise<void> {
    return this.#released ??= this.#backend.release(this.#key, this.token);
  }

  /** Notes that storing the value releases the lock. */
  releasedBy(stored: Promise<void>): void {
    this.#released = stored;
  }
}
