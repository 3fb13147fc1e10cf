import type {
  Backend,
  Changes,
  Position,
  Reading,
  ReleaseLock,
  SharedEntry,
} from "../shared/backend.ts";
import type { SharedStore } from "../shared/shared_store.ts";
import type { CacheRedisClient } from "./redis_client.ts";
import { RedisLink } from "./redis_link.ts";
import { RedisLocks } from "./redis_locks.ts";
import {
  ASK,
  DELETE,
  GET,
  HELLO,
  INVALIDATE,
  keysOf,
  PAGE,
  type RedisKeys,
  SET,
} from "./redis_scripts.ts";

/** Settings of a {@linkcode RedisBackend}. Times are in milliseconds. */
export interface RedisBackendOptions {
  readonly client: CacheRedisClient;
  /** The start of all keys. */
  readonly name: string;
  /** How long a lock is held at most. */
  readonly lockTime: number;
  /** How long to wait for an answer. */
  readonly timeout: number;
}

/** The backend in Redis. */
export class RedisBackend implements Backend {
  readonly #keys: RedisKeys;
  readonly #maxScopes: number;
  readonly #link: RedisLink;
  readonly #locks: RedisLocks;
  /** Names epochs that this process begins. */
  readonly #id = crypto.randomUUID();

  /** Creates a backend that connects at its first use. */
  constructor(
    store: SharedStore,
    { client, name, lockTime, timeout }: RedisBackendOptions,
  ) {
    this.#keys = keysOf(name);
    this.#maxScopes = store.maxScopes;
    this.#link = new RedisLink({
      client,
      channel: this.#keys.channel,
      timeout,
      onMessage: (message) => {
        // Without a connection now, the store asks when there is one.
        if (!this.#locks.hear(message)) store.sync().catch(() => {});
      },
      onConnect: async (run) => {
        const reply = await this.#ask(HELLO, store.position, [], [], run);
        store.learn(readChanges(reply));
      },
      onLost: () => this.#locks.wakeAll(),
      onBeat: async () => {
        await store.sync();
        await this.#locks.releaseLeft();
      },
    });
    this.#locks = new RedisLocks(this.#keys, lockTime, this.#link.run);
  }

  async ask(since: Position): Promise<Changes> {
    return readChanges(await this.#ask(ASK, since));
  }

  async get(key: string, since: Position): Promise<Reading> {
    const reply = await this.#ask(GET, since, [this.#keys.value(key)]) as [
      ...ChangesReply,
      entry: [epoch: string, began: string, text: string, ms: string] | null[],
      left: number,
    ];
    const [, , , [epoch, began, text, ms], left] = reply;
    const age = Math.max(0, Number(ms) - left);
    return {
      changes: readChanges(reply),
      entry: typeof epoch === "string"
        ? { epoch, began: Number(began), text: text!, age }
        : undefined,
    };
  }

  async set(
    key: string,
    { epoch, began, text }: SharedEntry,
    ms: number,
  ): Promise<void> {
    const keys = [this.#keys.meta, this.#keys.value(key)];
    await this.#link.run(SET, keys, [epoch, `${began}`, text, `${ms}`]);
  }

  async delete(key: string): Promise<void> {
    await this.#link.run(DELETE, [this.#keys.value(key)], []);
  }

  async invalidate(
    scopes: readonly string[],
    since: Position,
  ): Promise<Changes> {
    const args = [`${this.#maxScopes}`, this.#keys.channel, ...scopes];
    return readChanges(await this.#ask(INVALIDATE, since, [], args));
  }

  lock(key: string): Promise<ReleaseLock | undefined> {
    return this.#locks.lock(key);
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  /** Runs a script that begins with the epoch. */
  #ask(
    script: string,
    { epoch, number }: Position,
    more: readonly string[] = [],
    args: readonly string[] = [],
    run = this.#link.run,
  ): Promise<unknown> {
    const { meta, scopes } = this.#keys;
    const known = [epoch, `${number}`, this.#id];
    return run(script, [meta, scopes, ...more], [...known, ...args]);
  }
}

type ChangesReply = [epoch: string, number: string, scopes: string[]];

function readChanges(reply: unknown): Changes {
  const [epoch, number, list] = reply as ChangesReply;
  const scopes: [string, number][] = [];
  for (let i = 0; i < list.length; i += 2) {
    scopes.push([list[i]!, Number(list[i + 1])]);
  }
  return {
    epoch,
    number: Number(number),
    scopes,
    more: scopes.length === PAGE,
  };
}
