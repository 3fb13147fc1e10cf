/**
 * Processes that share a channel in Redis, and helpers for them.
 *
 * @module
 */

import type { Channel } from "@quartet/kit/rpc";
import {
  createRedisChannel,
  type RedisChannel,
  type RedisChannelOptions,
} from "@quartet/kit/rpc/redis";
import { createClient } from "redis";
import { UNHURRIED } from "../helpers.ts";
import { hasRedisServer, needsRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";

/** A process that shares a channel. Disposing it closes the channel. */
export interface TestProcess extends AsyncDisposable {
  readonly channel: RedisChannel<number>;
  /** Errors reported by the channel. */
  readonly errors: readonly Error[];
}

/** Creates the channel of another process. Its client is never connected. */
export function openProcess(
  url: string,
  options: Partial<RedisChannelOptions> = {},
): TestProcess {
  const errors: Error[] = [];
  const channel = createRedisChannel<number>({
    client: createClient({ url }),
    name: "c",
    timeout: UNHURRIED,
    onError: (error) => errors.push(error),
    ...options,
  });
  return {
    channel,
    errors,
    [Symbol.asyncDispose]: () => channel.close(),
  };
}

/** Subscribes, and waits until the subscription has started. */
export async function begin(
  channel: RedisChannel<number>,
  signal: AbortSignal,
  lastEventId?: string,
) {
  const stream = channel.subscribe(signal, { lastEventId });
  // A connection answers its commands in order.
  await channel.ping();
  return stream;
}

/** Publishes as soon as Redis is reachable. */
export async function publishWhenBack(
  channel: Channel<number>,
  value: number,
): Promise<string> {
  for (;;) {
    try {
      return await channel.publish(value);
    } catch (error) {
      if ((error as Error).name !== "UnavailableError") throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Waits until Redis is reachable. */
export async function untilBack(channel: RedisChannel<number>): Promise<void> {
  for (;;) {
    try {
      return await channel.ping();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Registers a test that starts Redis servers. */
export function testWithServers(
  name: string,
  fn: (signal: AbortSignal) => Promise<void>,
): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      const controller = new AbortController();
      try {
        await fn(controller.signal);
      } finally {
        controller.abort();
      }
    }),
  });
}
