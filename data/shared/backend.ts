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

/** The invalidations since a position, and the new position. */
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

/** A record, if there is one, and the invalidations before it was read. */
export interface Reading {
  readonly changes: Changes;
  readonly entry: FoundEntry | undefined;
}

/**
 * The records and invalidation numbers that several processes share. Methods
 * reject if they can't reach them.
 */
export interface Backend {
  /** Returns the invalidations since a position. */
  ask(since: Position): Promise<Changes>;
  /** Reads a record, and the invalidations since a position. */
  get(key: string, since: Position): Promise<Reading>;
  /**
   * Stores a record for some milliseconds, unless there is one that began later.
   * It may be invalid already, if its process doesn't know all invalidations yet.
   * Readers see that by the number that it began with.
   */
  set(key: string, entry: SharedEntry, ms: number): Promise<void>;
  /** Deletes a record. */
  delete(key: string): Promise<void>;
  /** Assigns the next number to each scope, and notifies all processes. */
  invalidate(scopes: readonly string[], since: Position): Promise<Changes>;
  /** See {@linkcode CacheStore.lock}. */
  lock(key: string): Promise<ReleaseLock | undefined>;
  /** Stops all work in the background. */
  close(): Promise<void>;
}
