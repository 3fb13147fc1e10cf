import { clearInterval, setInterval } from "node:timers";
import { pause } from "../../core/runtime/pause.ts";
import type {
  Backend,
  Changes,
  FoundEntry,
  Position,
  ReleaseLock,
  SharedEntry,
} from "../shared/backend.ts";
import type { Kv, KvEntry, KvKey } from "./kv.ts";
import { commit, keyPart } from "./kv_keys.ts";
import { KvLog } from "./kv_log.ts";
import { KvRecords } from "./kv_records.ts";

/** What a backend in Deno KV is made of. Times are in milliseconds. */
export interface KvBackendParts {
  readonly kv: Kv;
  /** What all keys begin with. */
  readonly name: string;
  /** How many scopes are kept. */
  readonly maxScopes: number;
  /** How long a lock is held at most. */
  readonly lockTime: number;
  /** How often it is asked for changes. */
  readonly interval: number;
  readonly now: () => number;
  /** Asks for changes. */
  readonly onTick: () => Promise<void>;
}

/** Who holds a lock, and until when. */
interface Held {
  readonly token: string;
  readonly until: number;
}

/**
 * What processes share, in Deno KV.
 *
 * `watch()` of an embedded file tells only of what this process writes, so
 * others are found out by asking, from the first use on.
 */
export class KvBackend implements Backend {
  readonly #parts: KvBackendParts;
  readonly #log: KvLog;
  readonly #records: KvRecords;
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  #ticking: Promise<void> | undefined;

  /** Makes a backend; nothing happens before it is asked for something. */
  constructor(parts: KvBackendParts) {
    const { kv, name, maxScopes, now } = parts;
    this.#parts = parts;
    this.#log = new KvLog(kv, name, maxScopes);
    this.#records = new KvRecords(kv, name, now);
  }

  async ask(since: Position): Promise<Changes> {
    const [meta] = await this.#read([this.#log.metaKey]);
    return await this.#log.changesSince(since, meta!);
  }

  async get(
    key: string,
    since: Position,
  ): Promise<{ changes: Changes; entry: FoundEntry | undefined }> {
    const head = await this.#records.keyOf(key);
    const [meta, value] = await this.#read([this.#log.metaKey, head]);
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
    const { kv, name, lockTime, now } = this.#parts;
    const lock: KvKey = [name, "lock", await keyPart(key)];
    const held: Held = {
      token: crypto.randomUUID(),
      until: now() + lockTime,
    };
    for (;;) {
      const [entry] = await this.#read([lock]);
      const other = entry!.value as Held | null;
      if (other !== null && other.until > now()) {
        await this.#waitFor(lock, other);
        return undefined;
      }
      const { versionstamp } = entry!;
      const change = kv.atomic().check({ key: lock, versionstamp })
        .set(lock, held, { expireIn: lockTime });
      if (await commit(change)) return () => this.#release(lock, held);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#timer);
    await this.#ticking;
  }

  /** Waits until somebody has let go of a lock, or has had it long enough. */
  async #waitFor(lock: KvKey, { token, until }: Held): Promise<void> {
    const { interval, now } = this.#parts;
    for (let left = until - now(); left > 0; left = until - now()) {
      await pause(Math.min(interval, left), this.#stop.signal);
      const [entry] = await this.#read([lock]);
      if ((entry!.value as Held | null)?.token !== token) return;
    }
  }

  async #release(lock: KvKey, { token }: Held): Promise<void> {
    const { kv } = this.#parts;
    const [{ value, versionstamp }] = await kv.getMany([lock]) as [KvEntry];
    if ((value as Held | null)?.token !== token) return;
    await commit(
      kv.atomic().check({ key: lock, versionstamp }).delete(lock),
    );
  }

  #read(keys: KvKey[]): Promise<KvEntry[]> {
    this.#open();
    return this.#parts.kv.getMany(keys);
  }

  #open(): void {
    if (this.#stop.signal.aborted) {
      throw new Error("Cannot use the cache's store: it is closed");
    }
    if (this.#timer !== undefined) return;
    const tick = () => this.#tick();
    this.#timer = setInterval(tick, this.#parts.interval);
    // A program that has nothing else to do may end.
    this.#timer.unref();
  }

  #tick(): void {
    // What can't be asked now is asked the next time.
    this.#ticking ??= this.#parts.onTick().catch(() => {}).finally(() =>
      this.#ticking = undefined
    );
  }
}
