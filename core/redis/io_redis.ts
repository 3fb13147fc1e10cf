/**
 * Connections from clients of `npm:ioredis`.
 *
 * @module
 */

import type { OnError, RedisClient, RedisConnection } from "./client.ts";

/** The part of `npm:ioredis` clients that the kit uses. */
interface IoRedis extends Omit<RedisClient, "on"> {
  readonly isCluster: boolean;
  duplicate(...options: unknown[]): IoRedis;
  disconnect(): void;
  call(...args: string[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  on(
    event: "error" | "end" | "message" | "+node",
    listener: (...args: never[]) => void,
  ): unknown;
}

const giveUp = () => null;

const IOREDIS = {
  lazyConnect: true,
  disconnectTimeout: 0,
  protocol: 2,
  stringNumbers: false,
  retryStrategy: giveUp,
  sentinelRetryStrategy: giveUp,
  sentinelCommandTimeout: 2_000,
  reconnectOnError: null,
  maxRetriesPerRequest: null,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  // The client can't prefix the channels that scripts publish on.
  keyPrefix: "",
};

const IOREDIS_CLUSTER = {
  lazyConnect: true,
  clusterRetryStrategy: giveUp,
  // 0: commands aren't repeated after the connection broke.
  retryDelayOnFailover: 0,
  // While keys move, repeating a command may take longer than the timeout.
  maxRedirections: 5,
  scaleReads: "master",
  redisOptions: { protocol: 2, disconnectTimeout: 0, stringNumbers: false },
  keyPrefix: "",
};

/** Creates a connection with the settings of a client of `npm:ioredis`. */
export function connectIoRedis(
  client: RedisClient,
  onError: OnError,
): RedisConnection {
  const ioRedis = client as unknown as IoRedis;
  const copy = ioRedis.isCluster
    ? ioRedis.duplicate([], IOREDIS_CLUSTER)
    : ioRedis.duplicate(IOREDIS);
  copy.on("error", onError);
  // The client ignores its result. A rejection would end the process.
  copy.on("+node", (node: { asking(): Promise<unknown> }) => {
    const { asking } = node;
    node.asking = () => asking.call(node).catch(() => {});
  });
  copy.on("end", () => onError(new Error("the connection was closed")));
  return {
    connect: () => copy.connect(),
    send: (args) => copy.call(...args),
    subscribe(channel, onMessage) {
      copy.on("message", (from: string, message: string) => {
        if (from === channel) onMessage(message);
      });
      return copy.subscribe(channel);
    },
    close: () => copy.disconnect(),
  };
}
