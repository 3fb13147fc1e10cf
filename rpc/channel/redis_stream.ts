import type { RedisCommands } from "../../core/redis/link.ts";

/** An entry of a stream. The first one of a stream holds no message. */
export interface Entry {
  readonly id: string;
  /** The text of the message. */
  readonly text: string | undefined;
}

/** How many entries are fetched at a time, at most. */
const MAX_PAGE = 128;

// A stream without an entry gets one, so that there always is one to start
// from. Errors are passed on as they are, for READONLY to be recognised.
const TAIL = `
local last = redis.call("XREVRANGE", KEYS[1], "+", "-", "COUNT", 1)[1]
return last and last[1] or redis.pcall("XADD", KEYS[1], "*", "start", "")`;

/**
 * The commands that a channel needs of Redis, on one stream.
 *
 * Each read begins with the entry that the reader has seen last. A stream only
 * grows at its end and is only cut at its beginning. So if that entry is there,
 * all that was added after it is there, too. If it isn't, the history was cut,
 * the stream was deleted, or another server with another history has taken over,
 * whose next ids may even be smaller.
 */
export class RedisStream {
  readonly #commands: RedisCommands;
  readonly #key: string;
  readonly #history: number;

  /** Creates the commands for the stream `key`. */
  constructor(commands: RedisCommands, key: string, history: number) {
    this.#commands = commands;
    this.#key = key;
    this.#history = history;
  }

  /** How many entries a read returns at most. */
  get pageSize(): number {
    return Math.min(this.#history, MAX_PAGE);
  }

  /** Adds a message. Returns its id. */
  async append(text: string): Promise<string> {
    const id = await this.#commands.send([
      ...["XADD", this.#key, "MAXLEN", "~", `${this.#history}`, "*"],
      ...["v", text],
    ]);
    return String(id);
  }

  /** Returns the id of the newest entry. */
  async tail(): Promise<string> {
    // Not EVALSHA: if Redis didn't know the script, a message that is published
    // next would overtake it.
    return String(await this.#commands.send(["EVAL", TAIL, "1", this.#key]));
  }

  /**
   * Returns the next entries after the entry `id`, or `undefined` if that isn't
   * there.
   */
  async after(id: string): Promise<readonly Entry[] | undefined> {
    const reply = await this.#commands.send([
      ...["XRANGE", this.#key, id, "+"],
      ...["COUNT", `${this.pageSize + 1}`],
    ]) as [string, string[]][];
    const [first, ...rest] = reply.map(toEntry);
    return first?.id === id ? rest : undefined;
  }

  /**
   * The same as {@linkcode after}, but waits for an entry to come.
   *
   * @param ms How long to wait, in milliseconds. Then there are none.
   */
  async next(id: string, ms: number): Promise<readonly Entry[] | undefined> {
    const [, entries] = await Promise.all([
      this.#commands.send([
        ...["XREAD", "COUNT", "1", "BLOCK", `${ms}`],
        ...["STREAMS", this.#key, id],
      ]),
      // Redis runs it when the first command has ended.
      this.after(id),
    ]);
    return entries;
  }
}

function toEntry([id, fields]: readonly [string, readonly string[]]): Entry {
  const at = fields.findIndex((field, i) => i % 2 === 0 && `${field}` === "v");
  return { id: `${id}`, text: at < 0 ? undefined : `${fields[at + 1]}` };
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
