import type {
  Backend,
  Changes,
  LockRequest,
  Position,
  Reading,
  SharedEntry,
} from "../shared/backend.ts";
import type { Kv, KvEntry } from "./kv.ts";
import { KvLocks, type KvLocksOptions, type Read } from "./kv_locks.ts";
import { KvLog } from "./kv_log.ts";
import { KvRecords } from "./kv_records.ts";
import { KvSpace } from "./kv_space.ts";

/** Settings of a {@linkcode KvBackend}. Times are in milliseconds. */
export interface KvBackendOptions extends KvLocksOptions {
  readonly kv: Kv;
  /** The first part of all keys. */
  readonly name: string;
  /** How long to wait for an answer. */
  readonly timeout: number;
  /** Maximum scopes to remember exactly. */
  readonly maxScopes: number;
}

/**
 * The backend in Deno KV.
 *
 * `watch()` of a file sees only the writes of its own process. So the store polls
 * for changes from its first use on.
 */
export class KvBackend implements Backend {
  readonly #space: KvSpace;
  readonly #log: KvLog;
  readonly #records: KvRecords;
  readonly #locks: KvLocks;
  readonly #stop = new AbortController();

  /** Creates a backend. */
  constructor(options: KvBackendOptions) {
    const { kv, name, timeout, maxScopes, now } = options;
    this.#space = new KvSpace(kv, name, timeout);
    this.#log = new KvLog(this.#space, maxScopes);
    this.#records = new KvRecords(this.#space, now);
    this.#locks = new KvLocks(this.#space, options, this.#stop.signal);
  }

  async ask(since: Position): Promise<Changes> {
    const [meta] = await this.#space.read(this.#log.metaKey);
    return await this.#log.changesSince(since, meta!);
  }

  async get(
    key: string,
    since: Position,
    request?: LockRequest,
  ): Promise<Reading> {
    const head = await this.#records.keyOf(key);
    const lock = await this.#locks.keyOf(key);
    for (;;) {
      const [meta, value, held] = await this.#space.read(
        this.#log.metaKey,
        head,
        lock,
      ) as [KvEntry, Read, Read];
      const changes = await this.#log.changesSince(since, meta);
      const entry = await this.#records.read(value);
      const reading = { changes, entry };
      const isOfUse = entry !== undefined && entry.epoch === changes.epoch &&
        entry.age < entry.freshFor &&
        entry.began > (request?.outdated ?? 0);
      if (request === undefined || isOfUse) return reading;
      if (this.#locks.isHeld(held)) {
        return { ...reading, released: this.#locks.released(held) };
      }
      if (await this.#locks.take(held, value, request.token)) {
        return { ...reading, isLocked: true };
      }
    }
  }

  async set(
    key: string,
    entry: SharedEntry | undefined,
    token: string | undefined,
  ): Promise<void> {
    try {
      if (entry === undefined) await this.#records.delete(key);
      else await this.#records.write(key, entry);
    } finally {
      if (token !== undefined) await this.#locks.release(key, token);
    }
  }

  async invalidate(
    scopes: readonly string[],
    since: Position,
  ): Promise<Changes> {
    await this.#log.append(scopes);
    return await this.ask(since);
  }

  release(key: string, token: string): Promise<void> {
    return this.#locks.release(key, token);
  }

  close(): Promise<void> {
    this.#stop.abort();
    return Promise.resolve();
  }
}
