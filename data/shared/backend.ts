/**
 * A position in the order of all invalidations.
 *
 * Numbers increase within an epoch. A store that may have lost data starts a new
 * epoch, and everything from before is invalid. Otherwise lost numbers would be
 * assigned again, and an old value could look new.
 */
export interface Position {
  /** The unique name of the epoch. */
  readonly epoch: string;
  /** The number of the last invalidation. */
  readonly number: number;
}

/** The invalidations since a position, and the new position. */
export interface Changes extends Position {
  /**
   * The scopes, as `namesOf` spells them, with the number of the last invalidation
   * of each, in ascending order. In another epoch, all scopes.
   */
  readonly scopes: readonly (readonly [name: string, number: number])[];
  /** Whether there are more. */
  readonly more: boolean;
}

/** A record, as it is stored behind memory. Times are in milliseconds. */
export interface SharedEntry {
  /** The epoch that it began in. */
  readonly epoch: string;
  /** The number of the last invalidation when its computation began. */
  readonly began: number;
  /** How long it is fresh after it was stored. */
  readonly freshFor: number;
  /** How long it is usable after it was stored, also as a stale value. */
  readonly keepFor: number;
  /** Everything else, as text. */
  readonly text: string;
}

/** A record that was read. */
export interface FoundEntry extends SharedEntry {
  /** Time since it was stored, in milliseconds. */
  readonly age: number;
}

/** The lock that a process asks for together with a record. */
export interface LockRequest {
  /** The unique id of the lock. */
  readonly token: string;
  /**
   * Records that began with this number or before are unusable. If the record is
   * unusable or isn't fresh, the key is locked.
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

/** Maximum time that a record is stored behind memory, in milliseconds. */
export const MAX_KEPT = 30 * 24 * 3_600_000;

/** Returns the milliseconds that a record is stored. */
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
   * Reads a record, and the invalidations since a position. With a request, it may
   * also lock the key, in the same atomic operation.
   */
  get(key: string, since: Position, request?: LockRequest): Promise<Reading>;
  /**
   * Stores a record, unless the present one began later. Without a record, deletes
   * the present one. Either way, releases the key's lock with this token.
   *
   * The record may already be invalid, if its process doesn't know all
   * invalidations. Readers check the number that it began with.
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
  /** Called at intervals while the store can be reached. */
  tidy?(): Promise<void>;
  /** Stops all background work. */
  close(): Promise<void>;
}
