import type { Kv, KvAtomicOperation, KvEntry, KvKey } from "./kv.ts";

/** What the parts of a store in Deno KV share. */
export interface KvParts {
  readonly kv: Kv;
  /** The first part of all keys. */
  readonly name: string;
  /** Maximum scopes in the log. */
  readonly maxScopes: number;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

/** The longest text that is a part of a key as it is, in UTF-16 code units. */
const MAX_PART = 300;

const encoder = new TextEncoder();

/** A text as a part of a key; all of a key may have 2,048 bytes. */
export async function keyPart(text: string): Promise<string | Uint8Array> {
  if (text.length <= MAX_PART) return text;
  const bytes = encoder.encode(text);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** How long a change is tried again while others write, in ms. */
const PATIENCE = 10_000;

/**
 * Makes changes. Only one process at a time can write to a file, and Deno KV
 * doesn't wait for its turn but throws.
 *
 * @returns Whether the checks allowed it.
 */
export async function commit(change: KvAtomicOperation): Promise<boolean> {
  const end = performance.now() + PATIENCE;
  for (let ms = 1;; ms = Math.min(2 * ms, 50)) {
    try {
      return (await change.commit()).ok;
    } catch (error) {
      const isBusy = /database is (locked|busy)/.test(String(error));
      if (!isBusy || performance.now() > end) throw error;
    }
    const pause = ms * Math.random();
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** How many values are read, or changed, at a time. */
export const PAGE = 500;

/** The first values whose keys begin so, after those before `start`. */
export async function page(
  kv: Kv,
  prefix: KvKey,
  start: number,
  limit: number = PAGE,
): Promise<KvEntry[]> {
  const entries: KvEntry[] = [];
  const selector = { prefix, start: [...prefix, start] };
  for await (const entry of kv.list(selector, { limit, batchSize: limit })) {
    entries.push(entry);
  }
  return entries;
}
