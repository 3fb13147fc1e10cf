import { commitInTurn } from "../../core/runtime/kv_commit.ts";
import { UnavailableError } from "../../core/unavailable.ts";
import { withTimeout } from "../../core/runtime/timeouts.ts";
import type { Kv, KvAtomicOperation, KvEntry, KvKey } from "./kv.ts";

/** The longest text that is a part of a key as it is, in UTF-16 code units. */
const MAX_PART = 300;

/** How many values are read, or changed, at a time. */
export const PAGE = 500;

const encoder = new TextEncoder();

/** The keys of one store in Deno KV. They begin with its name and `cache`. */
export class KvSpace {
  readonly #kv: Kv;
  readonly #name: string;
  readonly #timeout: number;

  /** Creates it. No operation takes longer than `timeout` milliseconds. */
  constructor(kv: Kv, name: string, timeout: number) {
    this.#kv = kv;
    this.#name = name;
    this.#timeout = timeout;
  }

  /** Returns a key. */
  key(...parts: KvKey): KvKey {
    return [this.#name, "cache", ...parts];
  }

  /** Returns the key of a text of any length; a key may have 2,048 bytes. */
  async keyOf(kind: string, text: string): Promise<KvKey> {
    if (text.length <= MAX_PART) return this.key(kind, text);
    const bytes = encoder.encode(text);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return this.key(kind, new Uint8Array(digest));
  }

  /** Reads the values under some keys at the same moment. */
  read(...keys: KvKey[]): Promise<KvEntry[]> {
    return this.#inTime(this.#kv.getMany(keys));
  }

  /** Reads the value under a key. */
  async readOne(key: KvKey): Promise<KvEntry> {
    return (await this.read(key))[0]!;
  }

  /** Reads the first values whose keys begin so, after those before `start`. */
  async page(prefix: KvKey, start: number, limit = PAGE): Promise<KvEntry[]> {
    const selector = { prefix, start: [...prefix, start] };
    const list = this.#kv.list(selector, { limit, batchSize: limit });
    return await this.#inTime(Array.fromAsync(list));
  }

  /** Begins changes, for {@linkcode commit}. */
  change(): KvAtomicOperation {
    return this.#kv.atomic();
  }

  /** Makes changes. Returns whether the checks allowed it. */
  commit(change: KvAtomicOperation): Promise<boolean> {
    return commitInTurn(() => this.#inTime(change.commit()));
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    const late = () =>
      new UnavailableError(
        `Cannot reach cache store: Deno KV has not answered for ${
          this.#timeout / 1_000
        } s`,
      );
    return withTimeout(work, this.#timeout, late);
  }
}
