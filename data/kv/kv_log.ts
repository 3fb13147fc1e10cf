/**
 * The numbers of invalidations in Deno KV.
 *
 * ```
 *   [name, "meta"]           epoch, number (the last one given), floor, count
 *   [name, "log", number]    the scope that has it
 *   [name, "scope", scope]   its number
 * ```
 *
 * A scope is in the log once, at its latest number. When there are too many,
 * the oldest go, and the floor rises to their numbers: what began before it is
 * invalid. Every change checks that `meta` is as it was read, so that they come
 * one after the other.
 *
 * @module
 */

import type { Changes, Position } from "../shared/backend.ts";
import { EVERYTHING } from "../shared/invalidation_names.ts";
import type { KvEntry, KvKey } from "./kv.ts";
import { commit, keyPart, type KvParts, PAGE, page } from "./kv_keys.ts";

/** The numbers that count for all. */
interface Meta extends Position {
  /** Records that began before are invalid. */
  readonly floor: number;
  /** How many scopes are in the log. */
  readonly count: number;
}

/** How many scopes get their numbers together: ten values are read at a time. */
const BATCH = 9;
/** Longest scope that is stored, in UTF-16 code units. */
const MAX_SCOPE = 10_000;

/** The invalidations of a store. */
export class KvLog {
  readonly #parts: KvParts;

  /** Creates a log that keeps at most `maxScopes` scopes. */
  constructor(parts: KvParts) {
    this.#parts = parts;
  }

  /** The key of the numbers. */
  get metaKey(): KvKey {
    return [this.#parts.name, "meta"];
  }

  /** Returns the invalidations since a position, up to that of `entry`. */
  async changesSince(since: Position, entry: KvEntry): Promise<Changes> {
    const { epoch, number, floor } = await this.#metaOf(entry);
    const known = epoch === since.epoch ? since.number : 0;
    if (known === number) return { epoch, number, scopes: [], more: false };
    const entries = await page(
      this.#parts.kv,
      this.#key("log"),
      Math.max(known, floor) + 1,
    );
    const scopes = entries.map(({ key, value }) =>
      [value as string, key.at(-1) as number] as const
    );
    return {
      epoch,
      // There may be newer ones than when `entry` was read.
      number: Math.max(number, scopes.at(-1)?.[1] ?? 0),
      scopes: floor > known ? [[EVERYTHING, floor], ...scopes] : scopes,
      more: entries.length === PAGE,
    };
  }

  /** Assigns the next number to each scope. */
  async append(scopes: readonly string[]): Promise<void> {
    for (let i = 0; i < scopes.length; i += BATCH) {
      const some = scopes.slice(i, i + BATCH);
      while (!await this.#tryAppend(some));
    }
  }

  async #tryAppend(scopes: readonly string[]): Promise<boolean> {
    const keys = await Promise.all(
      scopes.map(async (scope) => this.#key("scope", await keyPart(scope))),
    );
    const [entry, ...last] = await this.#parts.kv.getMany([
      this.metaKey,
      ...keys,
    ]);
    const meta = await this.#metaOf(entry!);
    // Where the epoch has just begun, nobody has seen it yet.
    const { versionstamp } = entry!.value === null
      ? (await this.#parts.kv.getMany([this.metaKey]))[0]!
      : entry!;
    let { number, floor, count } = meta;
    const change = this.#parts.kv.atomic().check({
      key: this.metaKey,
      versionstamp,
    });
    for (const [i, scope] of scopes.entries()) {
      number++;
      if (scope === EVERYTHING || scope.length > MAX_SCOPE) {
        floor = number;
        continue;
      }
      const old = last[i]!.value as number | null;
      if (old === null) count++;
      else change.delete(this.#key("log", old));
      change.set(this.#key("log", number), scope).set(keys[i]!, number);
    }
    const extra = count - this.#parts.maxScopes;
    if (extra > 0) {
      // Read from the log before this change, so these scopes may be among them,
      // at the place that they leave.
      const oldest = await page(this.#parts.kv, this.#key("log"), 0, 2 * BATCH);
      for (const { key, value } of oldest) {
        if (count <= this.#parts.maxScopes) break;
        if (scopes.includes(value as string)) continue;
        change.delete(key as KvKey)
          .delete(this.#key("scope", await keyPart(value as string)));
        floor = Math.max(floor, key.at(-1) as number);
        count--;
      }
    }
    change.set(this.metaKey, { ...meta, number, floor, count });
    return await commit(change);
  }

  /** Reads the numbers. Begins an epoch if there are none. */
  async #metaOf({ value, versionstamp }: KvEntry): Promise<Meta> {
    if (value !== null) return value as Meta;
    const key = this.metaKey;
    const meta = {
      epoch: crypto.randomUUID(),
      number: 1,
      floor: 1,
      count: 0,
    } satisfies Meta;
    const change = this.#parts.kv.atomic().check({ key, versionstamp });
    if (await commit(change.set(key, meta))) return meta;
    return await this.#metaOf((await this.#parts.kv.getMany([key]))[0]!);
  }

  #key(...parts: KvKey): KvKey {
    return [this.#parts.name, ...parts];
  }
}
