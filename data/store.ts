import type { Invalidation, InvalidationLog } from "./invalidation_log.ts";

/** A value and its metadata. */
export interface CacheRecord {
  /** The value. `undefined` is one. */
  readonly value: unknown;
  /** The number of the latest invalidation when the computation began. */
  readonly began: number;
  /** The key that `invalidate(...args)` of the function invalidates. */
  readonly scopeKey: string;
  /** Its tags. */
  readonly tags: readonly string[];
  /** Its paths, normalized. */
  readonly paths: readonly string[];
  /** The keys of its parts. */
  readonly keys?: readonly string[] | undefined;
  /** When it expires, in milliseconds of the Unix epoch. */
  readonly freshUntil: number;
  /** When even the stale value expires. A store may drop it then. */
  readonly keepUntil: number;
  /**
   * The log's version at which the record was found valid. Until the next
   * invalidation, its scopes needn't be looked up again. -1 in a record that a
   * store has just read.
   */
  checked: number;
}

/** The lock of a key among all processes that share a store. */
export interface Lock {
  /** Releases it. Does nothing if it was released already. */
  release(): void | Promise<void>;
}

/**
 * The state of a key in a store: one of these properties. Without any, the process
 * computes without a lock.
 */
export interface Claim {
  /** The record, if it is usable. */
  readonly record?: CacheRecord | undefined;
  /** The lock, if this process got it. It then computes the value. */
  readonly lock?: Lock | undefined;
  /**
   * Resolves when the other process has released the lock or held it for too long.
   * Then the cache asks again.
   */
  readonly released?: Promise<void> | undefined;
}

/**
 * Where a cache stores records: in the memory of this process, and possibly
 * behind it, shared with other processes.
 *
 * A store only stores. The cache decides whether a record is valid and fresh, with
 * {@linkcode CacheStore.invalidations}. Errors of a method don't fail calls; they
 * are reported once per outage.
 *
 * Keys are any strings, of any length; tags have no lone surrogates.
 */
export interface CacheStore {
  /**
   * The invalidations that this process knows of, usually the log of the memory
   * store in front. The cache reads it, the store writes it.
   */
  readonly invalidations: InvalidationLog;
  /** The number of records in memory. */
  readonly entries: number;
  /** The estimated size of the records in memory, in bytes. */
  readonly bytes: number;
  /** The number of records evicted so far. */
  readonly evictions: number;
  /** Returns the record in memory. A hit costs little more than this. */
  peek(key: string): CacheRecord | undefined;
  /**
   * Returns the record from behind memory, and keeps it in memory. A store without
   * anything behind memory lacks this method.
   */
  get?(key: string): Promise<CacheRecord | undefined>;
  /**
   * Returns the record from behind memory if it is usable. Otherwise locks the key,
   * so that one process computes. Without this method, all processes compute.
   *
   * @param isUsable Whether the cache can use a record.
   */
  claim?(
    key: string,
    isUsable: (record: CacheRecord) => boolean,
  ): Promise<Claim>;
  /**
   * Replaces the key's record, and releases the key's lock. Behind memory, it
   * stores only if all invalidations from before the record began are known there.
   * So before its first request, a process stores in memory only.
   */
  set(key: string, record: CacheRecord, lock?: Lock): void | Promise<void>;
  /**
   * Invalidates. It takes effect in {@linkcode CacheStore.invalidations} before it
   * returns, and for other processes when its promise resolves. If it rejects, the
   * store informs the others as soon as it can.
   */
  invalidate(what: Invalidation): void | Promise<void>;
  /**
   * Fetches all invalidations so far. Only strict stores have this method: the
   * cache awaits it before it uses memory. If it rejects, records in memory aren't
   * valid.
   *
   * @param timeout How long it may take, in milliseconds.
   */
  check?(timeout: number): Promise<void>;
  /** Rejects if the store can't be reached. The cache works without it. */
  ping?(): void | Promise<void>;
  /**
   * Adds a listener for outages, which are noticed even while the cache isn't used.
   * Called with the error, and with `undefined` whenever the store has answered.
   */
  onOutage?(listener: (error: unknown) => void): void;
  /** Closes connections. Operations in progress may reject. */
  close?(): void | Promise<void>;
}
