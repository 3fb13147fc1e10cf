import type { RedisClient } from "../../core/redis/client.ts";
import { type RedisCommands, RedisLink } from "../../core/redis/link.ts";
import type { RedisScript } from "../../core/redis/script.ts";
import {
  type Backend,
  type Changes,
  type FoundEntry,
  type LockRequest,
  type Position,
  type Reading,
  type SharedEntry,
  storedFor,
} from "../shared/backend.ts";
import type { Exchange } from "../shared/exchange.ts";
import { RedisLocks } from "./redis_locks.ts";
import {
  ASK,
  DELETE,
  GET,
  INVALIDATE,
  keysOf,
  PAGE,
  type RedisKeys,
  SET,
} from "./redis_scripts.ts";

/** Settings of a {@linkcode RedisBackend}. Times are in milliseconds. */
export interface RedisBackendOptions {
  readonly client: RedisClient;
  /** The name of the store. */
  readonly name: string;
  /** Maximum time that a lock is held. */
  readonly lockTime: number;
  /** How long to wait for an answer. */
  readonly timeout: number;
  /** Maximum scopes to remember exactly. */
  readonly maxScopes: number;
  /** The clock. */
  readonly now: () => number;
}

/** The backend in Redis. */
export class RedisBackend implements Backend {
  readonly #keys: RedisKeys;
  readonly #lockTime: number;
  readonly #maxScopes: number;
  readonly #link: RedisLink;
  readonly #locks: RedisLocks;
  /** Identifies this process in epochs and messages. */
  readonly #id = crypto.randomUUID();

  /** Creates a backend that connects at its first use. */
  constructor(exchange: Exchange, options: RedisBackendOptions) {
    const { name, client, timeout, now } = options;
    const { meta, channel } = this.#keys = keysOf(name);
    this.#lockTime = options.lockTime;
    this.#maxScopes = options.maxScopes;
    this.#link = new RedisLink({
      client,
      what: "cache store",
      timeout,
      key: meta,
      listen: {
        channel,
        onMessage: (message) => {
          if (this.#locks.hear(message) || message === this.#id) return;
          // Without a connection, the store asks once it has one.
          exchange.sync().catch(() => {});
        },
      },
      onConnect: async (commands) => {
        const since = now();
        const { position } = exchange;
        exchange.learn(await this.#ask(position, commands), since);
      },
      onError: (error) => exchange.report(error),
      onLost: () => this.#locks.wakeAll(),
    });
    this.#locks = new RedisLocks(this.#keys, this.#link);
  }

  ask(since: Position): Promise<Changes> {
    return this.#ask(since, this.#link);
  }

  async get(
    key: string,
    since: Position,
    request?: LockRequest,
  ): Promise<Reading> {
    const { value, lock } = this.#keys;
    const keys = [value(key), lock(key)];
    if (request === undefined) {
      return toReading(await this.#run(GET, since, keys) as Found);
    }
    const { token, outdated } = request;
    // Listens first, because the lock may be released before the answer comes.
    const waiter = this.#locks.wait(key);
    try {
      const args = [token, `${this.#lockTime}`, `${outdated}`];
      const found = await this.#run(GET, since, keys, args) as Found;
      const left = found[5];
      if (left === null || left === -1) waiter.end();
      return {
        ...toReading(found),
        isLocked: left === -1,
        released: left === null || left === -1
          ? undefined
          : waiter.released(left),
      };
    } catch (error) {
      waiter.end();
      this.#locks.leave(key, token);
      throw error;
    }
  }

  async set(
    key: string,
    entry: SharedEntry | undefined,
    token = "",
  ): Promise<void> {
    const { value, lock, meta } = this.#keys;
    await this.#locks.releaseWith(key, token, async (args) => {
      if (entry === undefined) {
        await this.#link.run(DELETE, [lock(key), value(key)], args);
        return;
      }
      const { epoch, began } = entry;
      const of = [epoch, `${began}`, `${storedFor(entry)}`, toText(entry)];
      const keys = [lock(key), meta, value(key)] as const;
      await this.#link.run(SET, keys, [...args, ...of]);
    });
  }

  async invalidate(
    scopes: readonly string[],
    since: Position,
  ): Promise<Changes> {
    const args = [`${this.#maxScopes}`, this.#keys.channel, ...scopes];
    const reply = await this.#run(INVALIDATE, since, [], args);
    const changes = toChanges(reply as ChangesReply);
    // Others came in between: it learns of its own together with them.
    if (changes.more) return changes;
    const [, , , before] = reply as [...ChangesReply, before: number];
    const own = scopes.map((scope, i) => [scope, before + i + 1] as const);
    return { ...changes, scopes: [...changes.scopes, ...own] };
  }

  release(key: string, token: string): Promise<void> {
    return this.#locks.release(key, token);
  }

  tidy(): Promise<void> {
    return this.#locks.releaseLeft();
  }

  async close(): Promise<void> {
    await this.#link.close();
    this.#locks.wakeAll();
  }

  async #ask(since: Position, commands: RedisCommands): Promise<Changes> {
    const reply = await this.#run(ASK, since, [], [], commands);
    return toChanges(reply as ChangesReply);
  }

  /** Runs a script that starts with the epoch. */
  #run(
    script: RedisScript,
    { epoch, number }: Position,
    keys: readonly string[],
    args: readonly string[] = [],
    commands: RedisCommands = this.#link,
  ): Promise<unknown> {
    const { meta, scopes } = this.#keys;
    const known = [epoch, `${number}`, this.#id];
    return commands.run(script, [meta, scopes, ...keys], [...known, ...args]);
  }
}

type ChangesReply = [epoch: string, number: string, scopes: string[]];

type Found = [
  ...ChangesReply,
  text: string | null,
  ttl: number,
  lock: number | null,
];

function toChanges([epoch, number, list]: ChangesReply | Found): Changes {
  const scopes: [string, number][] = [];
  for (let i = 0; i < list.length; i += 2) {
    scopes.push([list[i]!, Number(list[i + 1])]);
  }
  const more = scopes.length === PAGE;
  return { epoch, number: Number(number), scopes, more };
}

/** Returns an entry as text. The scripts read its start. */
function toText({ epoch, began, freshFor, keepFor, text }: SharedEntry) {
  return `${epoch} ${began} ${toPeriod(freshFor)} ${toPeriod(keepFor)} ${text}`;
}

function toPeriod(ms: number): string {
  return ms === Infinity ? "-" : `${Math.ceil(ms)}`;
}

const HEADER = /^(\w+) (\d+) (\S+) (\S+) /;

function toReading(found: Found): Reading {
  const [, , , text, left] = found;
  const changes = toChanges(found);
  const header = text === null ? null : HEADER.exec(text);
  if (header === null) return { changes, entry: undefined };
  const [, epoch, began, fresh, keep] = header as unknown as string[];
  const entry: SharedEntry = {
    epoch: epoch!,
    began: Number(began),
    freshFor: fresh === "-" ? Infinity : Number(fresh),
    keepFor: keep === "-" ? Infinity : Number(keep),
    text: text!.slice(header[0].length),
  };
  const age = Math.max(0, storedFor(entry) - left);
  return { changes, entry: { ...entry, age } satisfies FoundEntry };
}
