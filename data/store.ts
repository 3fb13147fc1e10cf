import type { CacheScopes, Dated, ScopeTable } from "./scope_table.ts";

/** A value, and all that is known about it. */
export interface CacheRecord extends Dated {
  /** The value. `undefined` is one. */
  readonly value: unknown;
  /** Until when it is fresh, in milliseconds of the Unix epoch. */
  readonly freshUntil: number;
  /** Until when it may be of use, even stale. A store may drop it then. */
  readonly keepUntil: number;
  /**
   * The version of the scope table at which the record was found valid. It
   * spares looking up the record's scopes until there is another invalidation.
   * A store that makes a record out of bytes begins with -1.
   */
  checked: number;
}

/** Lets go of the lock on a key. */
export type ReleaseLock = () => void | Promise<void>;

/**
 * Where a cache keeps its records: in the memory of this process, and possibly
 * beyond it, shared with other processes.
 *
 * A store only stores. Whether a record is valid or fresh is the cache's affair;
 * it decides that with {@linkcode CacheStore.scopes}. Whatever a method throws
 * or rejects with is reported once per outage and fails no call.
 *
 * Keys are any strings, of any length; tags have no lone surrogates.
 */
export interface CacheStore {
  /**
   * When what was last invalidated, as far as this process knows. The cache
   * reads it, the store writes it.
   */
  readonly scopes: ScopeTable;
  /** How many records the memory of this process holds. */
  readonly entries: number;
  /** How many bytes they take, estimated. */
  readonly bytes: number;
  /** How many records had to give way to others so far. */
  readonly evictions: number;
  /** The record that memory holds under a key. This is what a hit costs. */
  peek(key: string): CacheRecord | undefined;
  /**
   * The record under a key, from beyond memory; a store of memory alone has no
   * such method. What it finds, it keeps in memory as well.
   */
  get?(key: string): Promise<CacheRecord | undefined>;
  /**
   * Keeps a record, here and beyond, in place of the one under its key. Beyond
   * memory only if it is known there what was invalidated before it began: a
   * record of a process that has asked for nothing yet stays in memory.
   */
  set(key: string, record: CacheRecord): void | Promise<void>;
  /**
   * Invalidates: in {@linkcode CacheStore.scopes} before it returns, for other
   * processes when its promise resolves. If it rejects, the others don't know
   * yet, and the store tells them as soon as it can.
   */
  invalidate(scopes: CacheScopes): void | Promise<void>;
  /**
   * Locks a key among all processes, so that one of them computes.
   *
   * @returns What lets go of it; or `undefined` once another process has let
   * go, or has had it for too long: then the record is asked for again. It
   * never takes longer than the time that a lock is held at most.
   */
  lock?(key: string): Promise<ReleaseLock | undefined>;
  /** Closes connections. Calls that are under way may reject. */
  close?(): void | Promise<void>;
}
