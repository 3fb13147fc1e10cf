/**
 * The used part of a client of `npm:redis`, version 4 or later, as
 * `createClient()` returns it. It need not be connected: the store connects
 * duplicates of it.
 */
export interface CacheRedisClient {
  /** Opens the connection. */
  connect(): Promise<unknown>;
  /** Closes the connection, whatever is going on. */
  destroy(): void;
  /** Makes another one with the same settings. */
  duplicate(): CacheRedisClient;
  /** Listens to failures of the connection. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** The command PING. */
  ping(): Promise<unknown>;
  /** The command EVAL. */
  eval(
    script: string,
    options: { keys: string[]; arguments: string[] },
  ): Promise<unknown>;
  /** The command SUBSCRIBE. */
  subscribe(
    channel: string,
    listener: (message: string) => void,
  ): Promise<unknown>;
}
