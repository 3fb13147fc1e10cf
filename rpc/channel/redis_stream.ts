/**
 * The commands that a channel needs of Redis, on one stream.
 *
 * @module
 */

import { pause } from "../../core/runtime/pause.ts";
import { isTransient } from "../../core/runtime/redis.ts";

/**
 * What is used of a client of `npm:redis`, version 4 or later: what its
 * `createClient` makes. It has to be connected by whoever made it, before the
 * channel is used: messages are published through it.
 */
export interface ChannelRedisClient {
  /** Whether it is connected, or tries to be. */
  readonly isOpen: boolean;
  /** Opens the connection. */
  connect(): Promise<unknown>;
  /** Closes the connection, whatever is going on. */
  destroy(): void;
  /** Creates another client with the same settings. */
  duplicate(): ChannelRedisClient;
  /** Listens to failures of the connection. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** The command EVAL. */
  eval(
    script: string,
    options: { keys: string[]; arguments: string[] },
  ): Promise<unknown>;
  /** The command XADD. */
  xAdd(
    key: string,
    id: string,
    message: Record<string, string>,
    options: {
      TRIM: { strategy: "MAXLEN"; strategyModifier: "~"; threshold: number };
    },
  ): Promise<unknown>;
  /** The command XRANGE. */
  xRange(
    key: string,
    start: string,
    end: string,
    options: { COUNT: number },
  ): Promise<unknown>;
  /** The command XREAD. */
  xRead(
    stream: { key: string; id: string },
    options: { COUNT: number; BLOCK: number },
  ): Promise<unknown>;
}

/** An entry of a stream: a message, or the first entry, which holds none. */
export interface Entry {
  readonly id: string;
  readonly message: { readonly v?: string };
}

/** A stream in Redis. */
export interface RedisStream {
  /** The client that the commands go through. */
  readonly client: ChannelRedisClient;
  /** Its key. */
  readonly name: string;
  /** How many entries Redis keeps at least. */
  readonly history: number;
  /** How long one read waits for messages, in milliseconds. */
  readonly block: number;
}

/** How many entries are fetched at a time, at most. */
const MAX_PAGE = 128;

/** How many entries a page holds beside the one that it starts from. */
export function pageSize({ history }: RedisStream): number {
  return Math.min(MAX_PAGE, history);
}

/** Adds a message and gives its id. */
export async function append(
  { client, name, history }: RedisStream,
  text: string,
): Promise<string> {
  const TRIM = {
    strategy: "MAXLEN",
    strategyModifier: "~",
    threshold: history,
  } as const;
  return await client.xAdd(name, "*", { v: text }, { TRIM }) as string;
}

// A stream without an entry gets one, so that there always is one to start
// from: see startingAt().
const TAIL = `
local last = redis.call("XREVRANGE", KEYS[1], "+", "-", "COUNT", 1)[1]
return last and last[1] or redis.call("XADD", KEYS[1], "*", "start", "")`;

/** The id of the newest entry. */
export async function tail({ client, name }: RedisStream): Promise<string> {
  return await client.eval(TAIL, { keys: [name], arguments: [] }) as string;
}

/**
 * The entries after `id`, up to a page of them. Nothing if the entry `id` is
 * gone: Redis deletes the oldest first, so as long as it is there, all that
 * came after it is there as well.
 */
export async function after(
  stream: RedisStream,
  id: string,
): Promise<readonly Entry[] | undefined> {
  const [first, ...rest] = await stream.client.xRange(stream.name, id, "+", {
    COUNT: pageSize(stream) + 1,
  }) as Entry[];
  return first?.id === id ? rest : undefined;
}

/**
 * Waits for entries after `id`; empty if none come for a while. If it is less
 * than a page, nothing between was deleted: Redis keeps more than that.
 */
export async function news(
  stream: RedisStream,
  id: string,
): Promise<readonly Entry[]> {
  const reply = await stream.client.xRead({ key: stream.name, id }, {
    COUNT: pageSize(stream),
    BLOCK: stream.block,
  }) as { messages: Entry[] }[] | null;
  return reply?.[0]?.messages ?? [];
}

/** An id in its one spelling, as far as a number can hold its parts. */
const ID = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})$/;

/** Whether a text could be the id of an entry. */
export function isId(text: string): boolean {
  return ID.test(text);
}

/** Less than 0 if the entry `a` is older than `b`, 0 if it is the same. */
export function compareIds(a: string, b: string): number {
  const [aTime, aNumber] = a.split("-") as [string, string];
  const [bTime, bNumber] = b.split("-") as [string, string];
  return Number(aTime) - Number(bTime) || Number(aNumber) - Number(bNumber);
}

/**
 * Repeats work that only reads for as long as the client is about to get its
 * connection back.
 */
export async function persist<V>(
  client: ChannelRedisClient,
  signal: AbortSignal,
  work: () => Promise<V>,
): Promise<V> {
  for (let ms = 1;; ms = Math.min(2 * ms, MAX_PAUSE)) {
    try {
      return await work();
    } catch (error) {
      const passes = isTransient(error as Error);
      if (!passes || !client.isOpen || signal.aborted) throw error;
    }
    await pause(ms, signal);
  }
}

/** Time between two attempts, in ms. */
const MAX_PAUSE = 500;
