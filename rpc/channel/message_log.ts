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
 * A log only grows at its end and is only cut at its beginning. Each read
 * begins with the last entry that the reader has seen. If that entry exists, so
 * do all later ones. If it doesn't, the history was cut, the log was deleted,
 * or a server with another history has taken over.
 *
 * Calls reject with an `UnavailableError` while the server can't be reached.
 */
export interface MessageLog {
  /** Whether the log is connected. */
  readonly isOpen: boolean;
  /** Maximum entries per read. */
  readonly pageSize: number;
  /** Whether a text has the form of an id. */
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
  /**
   * Begins to wait for entries, until the signal aborts. The follower may have
   * its own connection.
   */
  follow(signal: AbortSignal): LogFollower;
  /** Resolves if the server answers. */
  ping(): Promise<unknown>;
  /** Closes the connections. Later calls reject. */
  close(): Promise<void>;
}

/** Reads the entries of a log as they arrive. */
export interface LogFollower
  extends Pick<MessageLog, "tail" | "after" | "close"> {
  /** The same as `after()`, but waits a while for an entry. May return none. */
  next(id: string): Promise<Page>;
}
