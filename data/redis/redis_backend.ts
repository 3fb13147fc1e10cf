import type {
  Backend,
  Changes,
  FoundEntry,
  Position,
  ReleaseLock,
  SharedEntry,
} from "../shared/backend.ts";
import type { Run } from "./redis_link.ts";
import {
  ASK,
  DELETE,
  GET,
  HELLO,
  INVALIDATE,
  PAGE,
  type RedisKeys,
  SET,
} from "./redis_scripts.ts";
import type { RedisLocks } from "./redis_locks.ts";

/** Parts of a {@linkcode RedisBackend}. */
export interface RedisBackendParts {
  readonly keys: RedisKeys;
  /** Maximum scopes in Redis. */
  readonly maxScopes: number;
  readonly locks: RedisLocks;
  readonly run: Run;
  /** Closes the connections. */
  readonly close: () => Promise<void>;
}

/** The backend in Redis. */
export class RedisBackend implements Backend {
  readonly #parts: RedisBackendParts;
  /** Names epochs that this process begins. */
  readonly #id = crypto.randomUUID();

  constructor(parts: RedisBackendParts) {
    this.#parts = parts;
  }

  /** The first command on a connection. */
  async greet(since: Position): Promise<Changes> {
    return readChanges(await this.#ask(HELLO, since));
  }

  async ask(since: Position): Promise<Changes> {
    return readChanges(await this.#ask(ASK, since));
  }

  async get(
    key: string,
    since: Position,
  ): Promise<{ changes: Changes; entry: FoundEntry | undefined }> {
    const reply = await this.#ask(GET, since, [
      this.#parts.keys.value(key),
    ]) as [
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
    const keys = [this.#parts.keys.meta, this.#parts.keys.value(key)];
    await this.#parts.run(SET, keys, [epoch, `${began}`, text, `${ms}`]);
  }

  async delete(key: string): Promise<void> {
    await this.#parts.run(DELETE, [this.#parts.keys.value(key)], []);
  }

  async invalidate(
    scopes: readonly string[],
    since: Position,
  ): Promise<Changes> {
    const { maxScopes, keys: { channel } } = this.#parts;
    const args = [`${maxScopes}`, channel, ...scopes];
    return readChanges(await this.#ask(INVALIDATE, since, [], args));
  }

  lock(key: string): Promise<ReleaseLock | undefined> {
    return this.#parts.locks.lock(key);
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  /** Runs a script that begins with the epoch. */
  #ask(
    script: string,
    { epoch, number }: Position,
    more: readonly string[] = [],
    args: readonly string[] = [],
  ): Promise<unknown> {
    const { run, keys: { meta, scopes } } = this.#parts;
    return run(
      script,
      [meta, scopes, ...more],
      [epoch, `${number}`, this.#id, ...args],
    );
  }
}

type ChangesReply = [epoch: string, number: string, scopes: string[]];

function readChanges(reply: unknown): Changes {
  const [epoch, number, list] = reply as ChangesReply;
  const scopes: [string, number][] = [];
  for (let i = 0; i < list.length; i += 2) {
    scopes.push([list[i]!, Number(list[i + 1])]);
  }
  const more = scopes.length === PAGE;
  return { epoch, number: Number(number), scopes, more };
}
