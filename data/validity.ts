import type { RequestScope } from "../core/request_scope.ts";
import { pathOfScope } from "./paths.ts";
import type { Dated, ScopeTable } from "./scope_table.ts";
import type { CacheRecord } from "./store.ts";

/** Tells what is still valid, for the request that asks. */
export class Validity {
  readonly #table: ScopeTable;

  /** Judges by what this table knows. */
  constructor(table: ScopeTable) {
    this.#table = table;
  }

  /** The number of the latest invalidation: what a computation begins with. */
  get sequence(): number {
    return this.#table.sequence;
  }

  /** What a record that was found valid now is marked with. */
  get version(): number {
    return this.#table.version;
  }

  /** Whether a record is valid. It remembers that until something changes. */
  isRecordValid(record: CacheRecord, scope: RequestScope | undefined): boolean {
    const { version } = this.#table;
    if (record.checked !== version) {
      if (!this.#table.isValid(record)) return false;
      record.checked = version;
    }
    return this.#isNewerThanPath(record.began, scope);
  }

  /** Whether what began then, and belongs to these scopes, is valid. */
  isValid(dated: Dated, scope?: RequestScope): boolean {
    return this.#table.isValid(dated) &&
      this.#isNewerThanPath(dated.began, scope);
  }

  /**
   * A value also belongs to the path of the request that asks for it, though it
   * may have been computed for another one or none.
   */
  #isNewerThanPath(began: number, scope: RequestScope | undefined): boolean {
    if (scope === undefined || began >= this.#table.pathSequence) return true;
    const path = pathOfScope(scope);
    return path === undefined || this.#table.lastOfPath(path) <= began;
  }
}
