import type {
  Backend,
  FoundEntry,
  News,
  Position,
  SharedEntry,
} from "../shared/backend.ts";
import type { ReleaseLock } from "../store.ts";
import type { Run } from "./redis_link.ts";
import {
  ASK,
  DELETE,
  GET,
  HELLO,
  INVALIDATE,
  PAGE,
  SET,
} from "./redis_scripts.ts";
import type { RedisLocks } from "./redis_locks.ts";

/** What a backend in Redis is made of. */
export interface RedisBackendParts {
  /** What all keys begin with. */
  readonly name: string;
  /** How many scopes Redis keeps. */
  readonly maxScopes: number;
  /** The locks of this process. */
  readonly locks: RedisLocks;
  /** Runs scripts. */
  readonly run: Run;
  /** Closes the connections. */
  readonly close: () => Promise<void>;
}

/** The channel of a store. */
export function channelOf(name: string): string {
  return `${name}:news`;
}

/** The key under which the epoch of a store is. */
export function metaOf(name: string): string {
  return `${name}:meta`;
}

/** What processes share, in Redis. */
export class RedisBackend implements Backend {
  readonly #parts: RedisBackendParts;
  readonly #keys: readonly [meta: string, scopes: string];
  /** Names epochs that this process begins. */
  readonly #id = crypto.randomUUID();

  /** Makes a backend; nothing happens before it is asked for something. */
  constructor(parts: RedisBackendParts) {
    this.#parts = parts;
    this.#keys = [metaOf(parts.name), `${parts.name}:scopes`];
  }

  /** The first thing to do on a connection. */
  async hello(since: Position): Promise<News> {
    return readNews(await this.#run(HELLO, [], this.#since(since)));
  }

  async ask(since: Position): Promise<News> {
    return readNews(await this.#run(ASK, [], this.#since(since)));
  }

  async get(
    key: string,
    since: Position,
  ): Promise<{ news: News; entry: FoundEntry | undefined }> {
    const keys = [this.#valueKey(key)];
    const reply = await this.#run(GET, keys, this.#since(since)) as [
      ...NewsReply,
      entry: [epoch: string, began: string, text: string, ms: string] | null[],
      left: number,
    ];
    const [, , , [epoch, began, text, ms], left] = reply;
    return {
      news: readNews(reply),
      entry: typeof epoch === "string"
        ? {
          epoch,
          began: Number(began),
          text: text!,
          age: Math.max(0, Number(ms) - left),
        }
        : undefined,
    };
  }

  async set(
    key: string,
    { epoch, began, text }: SharedEntry,
    ms: number,
  ): Promise<void> {
    const keys = [this.#keys[0], this.#valueKey(key)];
    await this.#parts.run(SET, keys, [epoch, `${began}`, text, `${ms}`]);
  }

  async delete(key: string): Promise<void> {
    await this.#parts.run(DELETE, [this.#valueKey(key)], []);
  }

  async invalidate(scopes: readonly string[], since: Position): Promise<News> {
    const { name, maxScopes } = this.#parts;
    return readNews(
      await this.#run(INVALIDATE, [], [
        ...this.#since(since),
        `${maxScopes}`,
        channelOf(name),
        ...scopes,
      ]),
    );
  }

  lock(key: string): Promise<ReleaseLock | undefined> {
    return this.#parts.locks.lock(key);
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  #run(script: string, keys: string[], args: string[]): Promise<unknown> {
    return this.#parts.run(script, [...this.#keys, ...keys], args);
  }

  #since({ epoch, number }: Position): string[] {
    return [epoch, `${number}`, this.#id];
  }

  #valueKey(key: string): string {
    return `${this.#parts.name}:value:${key}`;
  }
}

type NewsReply = [epoch: string, number: string, scopes: string[]];

function readNews(reply: unknown): News {
  const [epoch, number, list] = reply as NewsReply;
  const scopes: [string, number][] = [];
  for (let i = 0; i < list.length; i += 2) {
    scopes.push([list[i]!, Number(list[i + 1])]);
  }
  const more = scopes.length === PAGE;
  return { epoch, number: Number(number), scopes, more };
}
