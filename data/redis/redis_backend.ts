import type { RedisClient } from "../../core/redis/client.ts";
import { createRedisLink, type RedisCommands } from "../../core/redis/link.ts";
import type { RedisScript } from "../../core/redis/script.ts";
import {
  type Backend,
  type Changes,
  type FoundEntry,
  type Position,
  type Reading,
  type SharedEntry,
  storedFor,
} from "../shared/backend.ts";
import type { Exchange } from "../shared/exchange.ts";
import type { BackendSettings } from "../shared/shared_options.ts";
import { createRedisLocks } from "./redis_locks.ts";
import { ASK, GET, INVALIDATE, keysOf, PAGE, SET } from "./redis_scripts.ts";

/**
 * Creates a backend in Redis that connects at its first use.
 *
 * @param timeout How long to wait for an answer, in milliseconds.
 */
export function createRedisBackend(
  exchange: Exchange,
  client: RedisClient,
  timeout: number,
  { name, lockTime, maxScopes, now }: BackendSettings,
): Backend {
  const keys = keysOf(name);
  const { meta, channel, value, lock } = keys;
  /** Identifies this process in epochs and messages. */
  const id = crypto.randomUUID();
  const link = createRedisLink({
    client,
    what: "cache store",
    timeout,
    key: meta,
    listen: {
      channel,
      onMessage(message) {
        if (locks.hear(message) || message === id) return;
        // Without a connection, the store asks once it has one.
        exchange.sync().catch(() => {});
      },
    },
    async onConnect(commands) {
      const since = now();
      exchange.learn(await ask(exchange.position, commands), since);
    },
    onError: (error) => exchange.report(error),
    onLost: () => locks.wakeAll(),
  });
  const locks = createRedisLocks(keys, link);

  async function ask(
    since: Position,
    commands: RedisCommands = link,
  ): Promise<Changes> {
    const reply = await run(ASK, since, [], [], commands);
    return toChanges(reply as ChangesReply);
  }

  /** Runs a script that starts with the epoch. */
  function run(
    script: RedisScript,
    { epoch, number }: Position,
    others: readonly string[],
    args: readonly string[] = [],
    commands: RedisCommands = link,
  ): Promise<unknown> {
    const known = [epoch, `${number}`, id];
    const all = [meta, keys.scopes, ...others] as const;
    return commands.run(script, all, [...known, ...args]);
  }

  return {
    ask,

    async get(key, since, request) {
      const places = [value(key), lock(key)];
      if (request === undefined) {
        return toReading(await run(GET, since, places) as Found);
      }
      const { token, outdated } = request;
      // Listens first, because the lock may be released before the answer comes.
      const waiter = locks.wait(key);
      try {
        const args = [token, `${lockTime}`, `${outdated}`];
        const found = await run(GET, since, places, args) as Found;
        const left = found[5];
        const isLocked = left === -1;
        if (left !== null && !isLocked) {
          return { ...toReading(found), released: waiter.released(left) };
        }
        waiter.end();
        return { ...toReading(found), isLocked };
      } catch (error) {
        waiter.end();
        locks.leave(key, token);
        throw error;
      }
    },

    async set(key, entry, token = "") {
      await locks.releaseWith(key, token, async (args) => {
        const of = entry === undefined ? [] : toArgs(entry);
        await link.run(SET, [lock(key), meta, value(key)], [...args, ...of]);
      });
    },

    async invalidate(scopes, since) {
      const args = [`${maxScopes}`, channel, ...scopes];
      const reply = await run(INVALIDATE, since, [], args);
      const changes = toChanges(reply as ChangesReply);
      // Others came in between: it learns of its own together with them.
      if (changes.more) return changes;
      const [, , , before] = reply as [...ChangesReply, before: number];
      const own = scopes.map((scope, i) => [scope, before + i + 1] as const);
      return { ...changes, scopes: [...changes.scopes, ...own] };
    },

    release: locks.release,
    tidy: locks.releaseLeft,

    async close() {
      await link.close();
      locks.wakeAll();
    },
  };
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

/** Returns an entry as the arguments of a script. */
function toArgs(entry: SharedEntry): readonly string[] {
  const { epoch, began } = entry;
  return [epoch, `${began}`, `${storedFor(entry)}`, toText(entry)];
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
