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

/** A record, as it is kept beyond memory. Times are in milliseconds. */
export interface SharedEntry {
  /** The epoch that it began in. */
  readonly epoch: string;
  /** The number of the last invalidation when its computation began. */
  readonly began: number;
  /** For how long after it was kept it is fresh. */
  readonly freshFor: number;
  /** For how long after it was kept it is of use. */
  readonly keepFor: number;
  /** Everything else, as text. */
  readonly text: string;
}

/** A record that was found, some time after it was kept. */
export interface FoundEntry extends SharedEntry {
  /** How long it has been kept, in milliseconds. */
  readonly age: number;
}

/** The lock that a process asks for together with a record. */
export interface LockRequest {
  /** Identifies the lock; nobody has used it. */
  readonly token: string;
  /**
   * A record is of no use if it began with this number or before. If it is of no
   * use, or isn't fresh, the key is locked.
   */
  readonly outdated: number;
}

/** A record, if there is one, and the invalidations before it was read. */
export interface Reading {
  readonly changes: Changes;
  readonly entry: FoundEntry | undefined;
  /** Whether the key was locked, with the token of the request. */
  readonly isLocked?: boolean;
  /** Resolves when another process has released the lock, if one holds it. */
  readonly released?: Promise<void> | undefined;
}

/**
 * How long a record is stored behind memory at most, in milliseconds. Records
 * that nobody reads have to go some time.
 */
export const MAX_KEPT = 30 * 24 * 3_600_000;

/** Returns for how many milliseconds a record is stored. */
export function storedFor({ keepFor }: SharedEntry): number {
  return Math.min(Math.ceil(keepFor), MAX_KEPT);
}

/**
 * The records and invalidation numbers that several processes share. Methods
 * reject if they can't reach them.
 */
export interface Backend {
  /** Returns the invalidations since a position. */
  ask(since: Position): Promise<Changes>;
  /**
   * Reads a record, and the invalidations since a position. With a request, it
   * may also lock the key, all at one moment.
   */
  get(key: string, since: Position, request?: LockRequest): Promise<Reading>;
  /**
   * Stores a record, unless there is one that began later. It may be invalid
   * already, if its process doesn't know all invalidations yet. Readers compare
   * the number that it began with. Without a record, the present one is
   * deleted. Either way, the key's lock with this token is released.
   */
  set(
    key: string,
    entry: SharedEntry | undefined,
    token: string | undefined,
  ): Promise<void>;
  /** Assigns the next number to each scope, and notifies all processes. */
  invalidate(scopes: readonly string[], since: Position): Promise<Changes>;
  /** Releases the lock with this token. */
  release(key: string, token: string): Promise<void>;
  /** Called at intervals, while the store can be reached. */
  tidy?(): Promise<void>;
  /** Stops all work in the background. */
  close(): Promise<void>;
}
