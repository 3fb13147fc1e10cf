/** Releases a lock. */
export type ReleaseLock = () => void | Promise<void>;

/**
 * A place in the order of all invalidations.
 *
 * Numbers count up within an epoch. A store that has lost data, or may have,
 * begins a new epoch, and nothing from before it is valid: numbers that were
 * lost would be given again, and a value from before could pass for a new one.
 */
export interface Position {
  /** Names the epoch; no two have the same name. */
  readonly epoch: string;
  /** The number of the last invalidation. */
  readonly number: number;
}

/** What was invalidated since somebody last asked, and where that leads to. */
export interface Changes extends Position {
  /**
   * The scopes, as `namesOf` spells them, and the number of the last
   * invalidation of each, in ascending order. All of them, if the epoch is not
   * the one that was asked with.
   */
  readonly scopes: readonly (readonly [name: string, number: number])[];
  /** Whether these are not all. */
  readonly more: boolean;
}

/** A record, as it is kept beyond memory. */
export interface SharedEntry {
  /** The epoch that it began in. */
  readonly epoch: string;
  /** The number of the last invalidation when its computation began. */
  readonly began: number;
  /** Everything else, as text. */
  readonly text: string;
}

/** A record that was found, some time after it was kept. */
export interface FoundEntry extends SharedEntry {
  /** How long it has been kept, in milliseconds. */
  readonly age: number;
}

/**
 * What several processes have in common: records, and the numbers of what was
 * invalidated. Every method rejects if it can't reach that.
 */
export interface Backend {
  /** What was invalidated since. */
  ask(since: Position): Promise<Changes>;
  /** A record, and what was invalidated before it was looked for. */
  get(
    key: string,
    since: Position,
  ): Promise<
    { readonly changes: Changes; readonly entry: FoundEntry | undefined }
  >;
  /**
   * Keeps a record for so many milliseconds, unless there is one that began
   * later. It may be invalid already, by what its process has not heard of yet:
   * everybody who finds it sees that by the number that it began with.
   */
  set(key: string, entry: SharedEntry, ms: number): Promise<void>;
  /** Drops a record. */
  delete(key: string): Promise<void>;
  /** Gives each of these scopes the next number, and tells all processes. */
  invalidate(scopes: readonly string[], since: Position): Promise<Changes>;
  /** As the store's. */
  lock(key: string): Promise<ReleaseLock | undefined>;
  /** Stops whatever goes on behind the calls. */
  close(): Promise<void>;
}
