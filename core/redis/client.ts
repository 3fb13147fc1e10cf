import { kindOf, matching, type Rule } from "../check/rules.ts";

/**
 * A client of `npm:redis` 5 or 6 (`createClient()`, `createSentinel()`,
 * `createCluster()`) or of `npm:ioredis` (`Redis`, `Cluster`).
 *
 * The kit opens its own connections with the client's settings, and never sends
 * commands through the client. So you needn't connect it, except for
 * `createSentinel()` of `npm:redis` 5, which the kit asks for the master.
 */
export interface RedisClient {
  /** Opens the connection. */
  connect(): Promise<unknown>;
  /** Adds a listener for failures of the connection. */
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** The kinds of clients, which differ in how commands are sent. */
export type ClientKind =
  | "single"
  | "sentinel"
  | "sentinel5"
  | "cluster"
  | "ioredis";

/** Methods that identify a client. */
const METHODS = {
  ioredis: ["connect", "on", "duplicate", "call", "subscribe", "disconnect"],
  redis: ["connect", "on", "sendCommand", "subscribe", "destroy"],
} as const;

/** Returns the kind of a client, or `undefined` if it isn't supported. */
export function kindOfClient(client: unknown): ClientKind | undefined {
  const found = Object(client) as Record<string, unknown>;
  const has = (name: string) => typeof found[name] === "function";
  if (METHODS.ioredis.every(has)) return "ioredis";
  if (!METHODS.redis.every(has)) return undefined;
  if (has("getMasterNode")) return has("duplicate") ? "sentinel" : "sentinel5";
  if (!has("duplicate")) return undefined;
  return "slots" in found ? "cluster" : has("watch") ? "single" : undefined;
}

/**
 * A name that keys begin with, as a hash tag. A tag that begins with `}` would be
 * empty, so keys would be on different shards.
 */
export const aRedisName: Rule = matching(
  'a non-empty string that doesn\'t begin with "}"',
  /^[^}]/,
);

/** A supported client. Errors never show it: it may hold a password. */
export const aRedisClient: Rule = {
  expected:
    "a client of npm:redis 5 or 6 (createClient, createSentinel, createCluster) or of npm:ioredis (Redis, Cluster)",
  test: (value) => kindOfClient(value) !== undefined,
  describe(value) {
    if (typeof value !== "object" || value === null) return kindOf(value);
    const isPool = "execute" in value && "totalClients" in value;
    return isPool ? "a pool" : "another object";
  },
};

/** A connection of the kit. */
export interface RedisConnection {
  /** Opens it. */
  connect(): Promise<unknown>;
  /**
   * Sends a command. Replies have the shapes of RESP2.
   *
   * @param key A key on the shard that the command is for.
   */
  send(args: readonly string[], key: string): Promise<unknown>;
  /** Subscribes to a channel. */
  subscribe(
    channel: string,
    onMessage: (message: string) => void,
  ): Promise<unknown>;
  /** Closes it at once, in any state. */
  close(): void;
}

/** Called when a connection has failed. */
export type OnError = (error: Error) => void;
