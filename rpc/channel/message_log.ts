/** An entry of a log. The first one of a log holds no message. */
export interface Entry {
  readonly id: string;
  /** The text of the message. */
  readonly text: string | undefined;
}

/** Some entries, or `undefined` if the one before them is gone. */
export type Page = readonly Entry[] | undefined;

/**
 * The messages of a channel on a server that several processes share.
 *
 * A log only grows at its end and is only cut at its beginning. Each read begins
 * with the entry that the reader has seen last. So if that entry is there, all
 * that was added after it is there, too. If it isn't, the history was cut, the
 * log was deleted, or another server with another history has taken over.
 *
 * Calls reject with an `UnavailableError` while the server can't be reached.
 */
export interface MessageLog {
  /** Whether there is a connection now. */
  readonly isOpen: boolean;
  /** How many entries a read returns at most. */
  readonly pageSize: number;
  /** Whether a text could be the id of an entry. */
  isId(text: string): boolean;
  /** Less than 0 if the entry `a` is older than `b`, 0 if it is the same. */
  compareIds(a: string, b: string): number;
  /** Adds a message. Returns its id. */
  append(text: string): Promise<string>;
  /** Returns the id of the newest entry. */
  tail(): Promise<string>;
  /**
   * Returns the next entries after the entry `id`, for a returning subscriber.
   */
  after(id: string): Promise<Page>;
  /** Begins to wait for entries, until the signal aborts. */
  follow(signal: AbortSignal): LogFollower;
  /** Resolves if the server answers. */
  ping(): Promise<unknown>;
  /** Closes the connections. Later calls reject. */
  close(): Promise<void>;
}

/** Reads the entries of a log as they arrive. */
export interface LogFollower {
  /** Returns the id of the newest entry. */
  tail(): Promise<string>;
  /** Returns the next entries after the entry `id`. */
  after(id: string): Promise<Page>;
  /** The same, but waits a while for an entry. May return none. */
  next(id: string): Promise<Page>;
  /** Closes its own connection, if any. */
  close(): Promise<void>;
}
