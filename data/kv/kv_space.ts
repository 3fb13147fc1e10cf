import { commitInTurn } from "../../core/runtime/kv_commit.ts";
import { UnavailableError } from "../../core/unavailable.ts";
import { withTimeout } from "../../core/runtime/timeouts.ts";
import type { Kv, KvAtomicOperation, KvEntry, KvKey } from "./kv.ts";

/** Maximum length of a text in a key, in UTF-16 code units. Others are hashed. */
const MAX_PART = 300;

/** Maximum values to read or change at a time. */
export const PAGE = 500;

const encoder = new TextEncoder();

/** The key space of one store in Deno KV, below its name and `cache`. */
export class KvSpace {
  readonly #kv: Kv;
  readonly #name: string;
  readonly #timeout: number;

  /** Creates a key space. Operations take at most `timeout` milliseconds. */
  constructor(kv: Kv, name: string, timeout: number) {
    this.#kv = kv;
    this.#name = name;
    this.#timeout = timeout;
  }

  /** Returns a key. */
  key(...parts: KvKey): KvKey {
    return [this.#name, "cache", ...parts];
  }

  /** Returns the key of a text of any length. Keys have at most 2,048 bytes. */
  async keyOf(kind: string, text: string): Promise<KvKey> {
    if (text.length <= MAX_PART) return this.key(kind, text);
    const bytes = encoder.encode(text);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return this.key(kind, new Uint8Array(digest));
  }

  /** Reads the values of several keys in one snapshot. */
  read(...keys: KvKey[]): Promise<KvEntry[]> {
    return this.#inTime(this.#kv.getMany(keys));
  }

  /** Reads the value of a key. */
  async readOne(key: KvKey): Promise<KvEntry> {
    return (await this.read(key))[0]!;
  }

  /** Reads the first values from `start` on whose keys have a prefix. */
  async page(prefix: KvKey, start: number, limit = PAGE): Promise<KvEntry[]> {
    const selector = { prefix, start: [...prefix, start] };
    const list = this.#kv.list(selector, { limit, batchSize: limit });
    return await this.#inTime(Array.fromAsync(list));
  }

  /** Creates an atomic operation for {@linkcode commit}. */
  change(): KvAtomicOperation {
    return this.#kv.atomic();
  }

  /** Commits an operation. Returns whether its conditions held. */
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
