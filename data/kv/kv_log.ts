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
import type { Kv, KvEntry, KvKey } from "./kv.ts";
import { commit, keyPart, PAGE, page } from "./kv_keys.ts";

/** The numbers that count for all. */
interface Meta extends Position {
  /** What began before is invalid. */
  readonly floor: number;
  /** How many scopes are in the log. */
  readonly count: number;
}

/** How many scopes get their numbers together: ten values are read at a time. */
const BATCH = 9;
/** A scope of which nobody wants to keep the text, in UTF-16 code units. */
const MAX_SCOPE = 10_000;

/** The invalidations of a store. */
export class KvLog {
  readonly #kv: Kv;
  readonly #name: string;
  readonly #maxScopes: number;

  /** Makes a log of which Deno KV keeps so many scopes. */
  constructor(kv: Kv, name: string, maxScopes: number) {
    this.#kv = kv;
    this.#name = name;
    this.#maxScopes = maxScopes;
  }

  /** Where the numbers are. */
  get metaKey(): KvKey {
    return [this.#name, "meta"];
  }

  /** What was invalidated since, up to what `entry`, of that key, says. */
  async changesSince(since: Position, entry: KvEntry): Promise<Changes> {
    const { epoch, number, floor } = await this.#metaOf(entry);
    const known = epoch === since.epoch ? since.number : 0;
    if (known === number) return { epoch, number, scopes: [], more: false };
    const entries = await page(
      this.#kv,
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

  /** Gives each scope the next number. */
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
    const [entry, ...last] = await this.#kv.getMany([this.metaKey, ...keys]);
    const meta = await this.#metaOf(entry!);
    // Where the epoch has just begun, nobody has seen it yet.
    const { versionstamp } = entry!.value === null
      ? (await this.#kv.getMany([this.metaKey]))[0]!
      : entry!;
    let { number, floor, count } = meta;
    const change = this.#kv.atomic().check({ key: this.metaKey, versionstamp });
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
    const extra = count - this.#maxScopes;
    if (extra > 0) {
      // Those that were in the log before: none of these scopes are among them,
      // except at the place that they have just left.
      const oldest = await page(this.#kv, this.#key("log"), 0, 2 * BATCH);
      for (const { key, value } of oldest) {
        if (count <= this.#maxScopes) break;
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

  /** The numbers; where there are none, an epoch begins. */
  async #metaOf({ value, versionstamp }: KvEntry): Promise<Meta> {
    if (value !== null) return value as Meta;
    const key = this.metaKey;
    const meta = {
      epoch: crypto.randomUUID(),
      number: 1,
      floor: 1,
      count: 0,
    } satisfies Meta;
    const change = this.#kv.atomic().check({ key, versionstamp });
    if (await commit(change.set(key, meta))) return meta;
    return await this.#metaOf((await this.#kv.getMany([key]))[0]!);
  }

  #key(...parts: KvKey): KvKey {
    return [this.#name, ...parts];
  }
}
