/**
 * The invalidation numbers in Deno KV.
 *
 * ```
 *   [name, "cache", "meta"]           epoch, number (the last one given), floor, count
 *   [name, "cache", "log", number]    the scope that has it
 *   [name, "cache", "scope", scope]   its number
 * ```
 *
 * A scope is in the log once, with its latest number. If there are too many, the
 * oldest are removed, and the floor rises to their numbers. Everything that began
 * before the floor is invalid. Each change checks that `meta` is unchanged, so
 * changes are serialized.
 *
 * @module
 */

import type { Changes, Position } from "../shared/backend.ts";
import { EVERYTHING } from "../shared/invalidation_names.ts";
import type { KvEntry, KvKey } from "./kv.ts";
import { type KvSpace, PAGE } from "./kv_space.ts";

/** The numbers that all processes share. */
interface Meta extends Position {
  /** Records that began before are invalid. */
  readonly floor: number;
  /** Number of scopes in the log. */
  readonly count: number;
}

/** Scopes that get their numbers in one transaction: it reads ten values. */
const BATCH = 9;

/** Creates the invalidations of a store, of at most `maxScopes` scopes. */
export function createKvLog(space: KvSpace, maxScopes: number) {
  /** The key of the numbers. */
  const metaKey = space.key("meta");
  const logKey = space.key("log");

  /** Returns the invalidations since a position, and at least up to `entry`. */
  async function changesSince(
    since: Position,
    entry: KvEntry,
  ): Promise<Changes> {
    const { epoch, number, floor } = await metaOf(entry);
    const known = epoch === since.epoch ? since.number : 0;
    if (known === number) return { epoch, number, scopes: [], more: false };
    const next = Math.max(known, floor) + 1;
    const entries = await space.page(logKey, next);
    const scopes = entries.map(({ key, value }) =>
      [value as string, key.at(-1) as number] as const
    );
    return {
      epoch,
      // Newer ones may have come since `entry` was read.
      number: Math.max(number, scopes.at(-1)?.[1] ?? 0),
      scopes: floor > known ? [[EVERYTHING, floor], ...scopes] : scopes,
      more: entries.length === PAGE,
    };
  }

  /** Assigns the next number to each scope. */
  async function append(scopes: readonly string[]): Promise<void> {
    for (let i = 0; i < scopes.length; i += BATCH) {
      const some = scopes.slice(i, i + BATCH);
      while (!await tryAppend(some));
    }
  }

  async function tryAppend(scopes: readonly string[]): Promise<boolean> {
    const keys = await Promise.all(
      scopes.map((scope) => space.keyOf("scope", scope)),
    );
    const [entry, ...last] = await space.read(metaKey, ...keys);
    const meta = await metaOf(entry!);
    // Nobody has seen an epoch that has just begun.
    const { versionstamp } = entry!.value === null
      ? await space.readOne(metaKey)
      : entry!;
    let { number, floor, count } = meta;
    const change = space.change().check({ key: metaKey, versionstamp });
    for (const [i, scope] of scopes.entries()) {
      number++;
      if (scope === EVERYTHING) {
        floor = number;
        continue;
      }
      const old = last[i]!.value as number | null;
      if (old === null) count++;
      else change.delete([...logKey, old]);
      change.set([...logKey, number], scope).set(keys[i]!, number);
    }
    if (count > maxScopes) {
      // These were read before this change. They may include scopes that it moves.
      const oldest = await space.page(logKey, 0, 2 * BATCH);
      for (const { key, value } of oldest) {
        if (count <= maxScopes) break;
        if (scopes.includes(value as string)) continue;
        change.delete(key as KvKey)
          .delete(await space.keyOf("scope", value as string));
        floor = Math.max(floor, key.at(-1) as number);
        count--;
      }
    }
    change.set(metaKey, { ...meta, number, floor, count });
    return await space.commit(change);
  }

  /** Reads the numbers. Starts an epoch if there are none. */
  async function metaOf({ value, versionstamp }: KvEntry): Promise<Meta> {
    if (value !== null) return value as Meta;
    const epoch = crypto.randomUUID();
    const meta: Meta = { epoch, number: 1, floor: 1, count: 0 };
    const change = space.change().check({ key: metaKey, versionstamp });
    if (await space.commit(change.set(metaKey, meta))) return meta;
    return await metaOf(await space.readOne(metaKey));
  }

  return { metaKey, changesSince, append };
}
