/**
 * A connection to Redis, independent of the client.
 *
 * A client would reconnect by itself, and repeat commands that may have been
 * executed. So a connection is closed at its first failure, and never reopened.
 *
 * @module
 */

import { isObject } from "../check/rules.ts";
import {
  kindOfClient,
  type OnError,
  type RedisClient,
  type RedisConnection,
} from "./client.ts";
import { connectIoRedis } from "./io_redis.ts";
import { connectNodeRedis } from "./node_redis.ts";
import { withoutArguments } from "./replies.ts";

/**
 * Creates a connection with the settings of a client.
 *
 * @param onError Called when it fails, also after it was closed.
 */
export function createConnection(
  client: RedisClient,
  onError: OnError,
): RedisConnection {
  const kind = kindOfClient(client)!;
  const connection = kind === "ioredis"
    ? connectIoRedis(client, onError)
    : connectNodeRedis(client, kind, onError);
  return {
    ...connection,
    send: (args, key) =>
      connection.send(args, key).then(withoutMaps, (error: Error) => {
        throw withoutArguments(error);
      }),
  };
}

function withoutMaps(reply: unknown): unknown {
  if (!isObject(reply)) return reply;
  return reply instanceof Map ? [...reply] : Object.entries(reply);
}
