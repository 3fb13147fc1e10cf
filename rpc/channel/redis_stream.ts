import {
  createRedisLink,
  type RedisLinkOptions,
} from "../../core/redis/link.ts";
import type { Entry, LogFollower, MessageLog, Page } from "./message_log.ts";

/** Maximum entries per command. */
const MAX_PAGE = 128;

// An empty stream gets an entry, so that a subscription always has one to start
// from. Errors are passed on unchanged, so that READONLY is recognised.
const TAIL = `
local last = redis.call("XREVRANGE", KEYS[1], "+", "-", "COUNT", 1)[1]
return last and last[1] or redis.pcall("XADD", KEYS[1], "*", "start", "")`;

/**
 * Creates the log of a channel in a stream, whose name is the link's key. It
 * connects at its first use. On a server with another history, the next ids may
 * be smaller.
 *
 * @param history The minimum number of messages kept.
 */
export function createRedisLog(
  options: RedisLinkOptions,
  history: number,
): MessageLog & LogFollower {
  const { key, timeout } = options;
  const link = createRedisLink(options);
  const pageSize = Math.min(history, MAX_PAGE);
  // Half of the time after which Redis counts as silent, in milliseconds.
  const block = `${Math.max(1, Math.floor(timeout / 2))}`;

  async function after(id: string): Promise<Page> {
    const count = `${pageSize + 1}`;
    const reply = await link.send(
      ["XRANGE", key, id, "+", "COUNT", count],
    ) as [string, string[]][];
    const [first, ...rest] = reply.map(toEntry);
    return first?.id === id ? rest : undefined;
  }

  return {
    pageSize,
    get isOpen() {
      return link.isOpen;
    },
    isId: (text) => ID.test(text),
    compareIds(a, b) {
      const [aTime, aNumber] = a.split("-") as [string, string];
      const [bTime, bNumber] = b.split("-") as [string, string];
      return Number(aTime) - Number(bTime) || Number(aNumber) - Number(bNumber);
    },
    async append(text) {
      const limit = ["MAXLEN", "~", `${history}`];
      return String(await link.send(["XADD", key, ...limit, "*", "v", text]));
    },
    // Not EVALSHA: if Redis didn't know the script, a message that is published
    // next would overtake it.
    tail: async () => String(await link.send(["EVAL", TAIL, "1", key])),
    after,
    async next(id) {
      const [, entries] = await Promise.all([
        link.send([
          ...["XREAD", "COUNT", "1", "BLOCK", block],
          ...["STREAMS", key, id],
        ]),
        // Redis runs it when the first command has ended.
        after(id),
      ]);
      return entries;
    },
    // Another connection, because a blocked one can do nothing else.
    follow(signal) {
      // The main connection fails as well, and reports it.
      const follower = createRedisLog({ ...options, onError() {} }, history);
      // A connection that is being opened ends the first command in time. Some
      // clients can't close it before.
      const close = () => follower.isOpen ? follower.close() : undefined;
      signal.addEventListener("abort", close);
      return follower;
    },
    ping: () => link.send(["PTTL", key]),
    close: () => link.close(),
  };
}

function toEntry([id, fields]: readonly [string, readonly string[]]): Entry {
  const at = fields.findIndex((field, i) => i % 2 === 0 && `${field}` === "v");
  return { id: `${id}`, text: at < 0 ? undefined : `${fields[at + 1]}` };
}

/** A canonical id, whose parts are safe integers. */
const ID = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})$/;
