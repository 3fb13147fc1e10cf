import { clearInterval, setInterval } from "node:timers";
import { pause } from "../../core/runtime/pause.ts";
import type {
  Backend,
  Changes,
  Position,
  Reading,
  ReleaseLock,
  SharedEntry,
} from "../shared/backend.ts";
import type { SharedStore } from "../shared/shared_store.ts";
import type { Kv, KvEntry, KvKey } from "./kv.ts";
import { KvLog } from "./kv_log.ts";
import { KvRecords } from "./kv_records.ts";
import { commit, KvSpace } from "./kv_space.ts";

/** Settings of a {@linkcode KvBackend}. Times are in milliseconds. */
export interface KvBackendOptions {
  readonly kv: Kv;
  /** The first part of all keys. */
  readonly name: string;
  /** How long a lock is held at most. */
  readonly lockTime: number;
  /** How often to ask for changes. */
  readonly interval: number;
  /** The clock. */
  readonly now: () => number;
}

/** The holder of a lock, and when the lock ends. */
interface Held {
  readonly token: string;
  readonly until: number;
}

/**
 * The backend in Deno KV.
 *
 * `watch()` of a file sees only the writes of its own process. So the backend
 * asks for changes in intervals, from its first use on.
 */
export class KvBackend implements Backend {
  readonly #store: SharedStore;
  readonly #options: KvBackendOptions;
  readonly #space: KvSpace;
  readonly #log: KvLog;
  readonly #records: KvRecords;
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  #ticking: Promise<void> | undefined;

  /** Creates a backend that does nothing before its first use. */
  constructor(store: SharedStore, options: KvBackendOptions) {
    this.#store = store;
    this.#options = options;
    this.#space = new KvSpace(options.kv, options.name);
    this.#log = new KvLog(this.#space, store.maxScopes);
    this.#records = new KvRecords(this.#space, options.now);
  }

  async ask(since: Position): Promise<Changes> {
    const [meta] = await this.#read(this.#log.metaKey);
    return await this.#log.changesSince(since, meta!);
  }

  async get(key: string, since: Position): Promise<Reading> {
    const head = await this.#records.keyOf(key);
    const [meta, value] = await this.#read(this.#log.metaKey, head);
    return {
      changes: await this.#log.changesSince(since, meta!),
      entry: await this.#records.read(value!),
    };
  }

  async set(key: string, entry: SharedEntry, ms: number): Promise<void> {
    this.#open();
    await this.#records.write(key, entry, ms);
  }

  async delete(key: string): Promise<void> {
    this.#open();
    await this.#records.delete(key);
  }

  async invalidate(
    scopes: readonly string[],
    since: Position,
  ): Promise<Changes> {
    this.#open();
    await this.#log.append(scopes);
    return await this.ask(since);
  }

  async lock(key: string): Promise<ReleaseLock | undefined> {
    const { lockTime, now } = this.#options;
    const lock = await this.#space.keyOf("lock", key);
    const token = crypto.randomUUID();
    const held: Held = { token, until: now() + lockTime };
    for (;;) {
      const [entry] = await this.#read(lock);
      const other = entry!.value as Held | null;
      if (other !== null && other.until > now()) {
        await this.#waitFor(lock, other);
        return undefined;
      }
      const { versionstamp } = entry!;
      const change = this.#space.change().check({ key: lock, versionstamp })
        .set(lock, held, { expireIn: lockTime });
      if (await commit(change)) return () => this.#release(lock, held);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#timer);
    await this.#ticking;
  }

  /** Waits until a lock is released or has ended. */
  async #waitFor(lock: KvKey, { token, until }: Held): Promise<void> {
    const { interval, now } = this.#options;
    for (let left = until - now(); left > 0; left = until - now()) {
      await pause(Math.min(interval, left), this.#stop.signal);
      const [entry] = await this.#read(lock);
      if ((entry!.value as Held | null)?.token !== token) return;
    }
  }

  async #release(lock: KvKey, { token }: Held): Promise<void> {
    const { value, versionstamp } = await this.#space.readOne(lock);
    if ((value as Held | null)?.token !== token) return;
    const change = this.#space.change().check({ key: lock, versionstamp });
    await commit(change.delete(lock));
  }

  #read(...keys: KvKey[]): Promise<KvEntry[]> {
    this.#open();
    return this.#space.read(...keys);
  }

  #open(): void {
    if (this.#stop.signal.aborted) {
      throw new Error("Cannot use the cache's store: it is closed");
    }
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#tick(), this.#options.interval);
    // Doesn't keep the process alive.
    this.#timer.unref();
  }

  #tick(): void {
    // After a failure, the next tick asks again.
    this.#ticking ??= this.#store.sync().catch(() => {}).finally(() =>
      this.#ticking = undefined
    );
  }
}
