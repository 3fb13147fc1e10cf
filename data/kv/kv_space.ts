import { limitKv } from "../../core/runtime/kv_limits.ts";
import type { Kv, KvEntry, KvKey } from "./kv.ts";

/** Maximum length of a text in a key, in UTF-16 code units. Others are hashed. */
const MAX_PART = 300;

/** Maximum values to read or change at a time. */
export const PAGE = 500;

const encoder = new TextEncoder();

export type KvSpace = ReturnType<typeof createKvSpace>;

/**
 * Creates the key space of one store in Deno KV, below its name and `cache`.
 * Operations take at most `timeout` seconds.
 */
export function createKvSpace(kv: Kv, name: string, timeout: number) {
  const { inTime, commit } = limitKv("cache store", timeout);

  /** Returns a key. */
  const key = (...parts: KvKey): KvKey => [name, "cache", ...parts];

  /** Returns the key of a text of any length. Keys have at most 2,048 bytes. */
  async function keyOf(kind: string, text: string): Promise<KvKey> {
    if (text.length <= MAX_PART) return key(kind, text);
    const bytes = encoder.encode(text);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return key(kind, new Uint8Array(digest));
  }

  /** Reads the values of several keys in one snapshot. */
  const read = (...keys: KvKey[]) => inTime(kv.getMany(keys));

  /** Reads the value of a key. */
  const readOne = async (key: KvKey) => (await read(key))[0]!;

  /** Reads the first values from `start` on whose keys have a prefix. */
  function page(
    prefix: KvKey,
    start: number,
    limit = PAGE,
  ): Promise<KvEntry[]> {
    const selector = { prefix, start: [...prefix, start] };
    const list = kv.list(selector, { limit, batchSize: limit });
    return inTime(Array.fromAsync(list));
  }

  return {
    key,
    keyOf,
    read,
    readOne,
    page,
    /** Creates an atomic operation. */
    change: () => kv.atomic(),
    /** Returns whether the operation's conditions held. */
    commit,
  };
}
