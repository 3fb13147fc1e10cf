import { RedisLink, type RedisLinkOptions } from "../../core/redis/link.ts";
import type { Entry, LogFollower, MessageLog, Page } from "./message_log.ts";

/** Settings of a {@linkcode RedisStream}. */
export interface RedisStreamOptions extends RedisLinkOptions {
  /** The minimum number of messages kept. */
  readonly history: number;
}

/** Maximum entries per command. */
const MAX_PAGE = 128;

// An empty stream gets an entry, so that a subscription always has one to start
// from. Errors are passed on unchanged, so that READONLY is recognised.
const TAIL = `
local last = redis.call("XREVRANGE", KEYS[1], "+", "-", "COUNT", 1)[1]
return last and last[1] or redis.pcall("XADD", KEYS[1], "*", "start", "")`;

/**
 * The messages of a channel in a stream, whose name is the link's key. On a
 * server with another history, the next ids may be smaller.
 */
export class RedisStream implements MessageLog, LogFollower {
  readonly pageSize: number;
  readonly #options: RedisStreamOptions;
  readonly #link: RedisLink;
  /** How long to wait for an entry, in milliseconds. */
  readonly #block: number;

  /** Creates a log that connects at its first use. */
  constructor(options: RedisStreamOptions) {
    this.#options = options;
    this.#link = new RedisLink(options);
    this.pageSize = Math.min(options.history, MAX_PAGE);
    // Half of the time after which Redis counts as silent.
    this.#block = Math.max(1, Math.floor(options.timeout / 2));
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  isId(text: string): boolean {
    return ID.test(text);
  }

  compareIds(a: string, b: string): number {
    const [aTime, aNumber] = a.split("-") as [string, string];
    const [bTime, bNumber] = b.split("-") as [string, string];
    return Number(aTime) - Number(bTime) || Number(aNumber) - Number(bNumber);
  }

  async append(text: string): Promise<string> {
    const { key, history } = this.#options;
    const limit = ["MAXLEN", "~", `${history}`];
    const id = await this.#link.send(["XADD", key, ...limit, "*", "v", text]);
    return String(id);
  }

  async tail(): Promise<string> {
    const { key } = this.#options;
    // Not EVALSHA: if Redis didn't know the script, a message that is published
    // next would overtake it.
    return String(await this.#link.send(["EVAL", TAIL, "1", key]));
  }

  async after(id: string): Promise<Page> {
    const { key } = this.#options;
    const count = `${this.pageSize + 1}`;
    const reply = await this.#link.send(
      ["XRANGE", key, id, "+", "COUNT", count],
    ) as [string, string[]][];
    const [first, ...rest] = reply.map(toEntry);
    return first?.id === id ? rest : undefined;
  }

  async next(id: string): Promise<Page> {
    const { key } = this.#options;
    const [, entries] = await Promise.all([
      this.#link.send([
        ...["XREAD", "COUNT", "1", "BLOCK", `${this.#block}`],
        ...["STREAMS", key, id],
      ]),
      // Redis runs it when the first command has ended.
      this.after(id),
    ]);
    return entries;
  }

  /** Opens another connection, because a blocked one can do nothing else. */
  follow(signal: AbortSignal): LogFollower {
    // The main connection fails as well, and reports it.
    const stream = new RedisStream({ ...this.#options, onError() {} });
    // A connection that is being opened ends the first command in time. Some
    // clients can't close it before.
    const close = () => stream.isOpen ? stream.close() : undefined;
    signal.addEventListener("abort", close);
    return stream;
  }

  ping(): Promise<unknown> {
    return this.#link.send(["PTTL", this.#options.key]);
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}

function toEntry([id, fields]: readonly [string, readonly string[]]): Entry {
  const at = fields.findIndex((field, i) => i % 2 === 0 && `${field}` === "v");
  return { id: `${id}`, text: at < 0 ? undefined : `${fields[at + 1]}` };
}

/** A canonical id, whose parts are safe integers. */
const ID = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})$/;
