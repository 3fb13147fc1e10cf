import { currentScope, type RequestScope } from "../core/request_scope.ts";
import type { Dependencies } from "./invalidation_log.ts";
import type { Policy } from "./options.ts";
import { SharedScope } from "./shared_scope.ts";
import type { CacheRecord } from "./store.ts";

/** How a call ended. */
export type Result = "hit" | "stale" | "miss";

/** The part of a call that decides which scopes its value belongs to. */
export type ScopedCall = Pick<Call, "scopeKey" | "policy">;

/** A call of a cached function. */
export interface Call {
  /** The key of the record. */
  readonly key: string;
  /** The key that `invalidate(...args)` invalidates. */
  readonly scopeKey: string;
  readonly policy: Policy;
  readonly compute: () => unknown;
  /** Whether the store isn't asked, because it has just failed to answer. */
  readonly isAlone?: boolean;
  /**
   * Whether `compute` may ask for the user. If so, it must make sure that such a
   * value isn't stored.
   */
  readonly mayAsk?: boolean;
  /** Returns how long a value is fresh, in milliseconds. 0: it isn't stored. */
  readonly lifetime: (value: unknown, policy: Policy) => number;
  /** Whether an expired value may be served. Default: it may. */
  readonly mayBeStale?: (value: unknown) => boolean;
  /** Returns in words why the last value isn't stored, if known. */
  readonly obstacle?: () => string | undefined;
}

/**
 * An in-flight computation, which all callers of its key share.
 *
 * Values that it gets from the same cache are parts of its own value. It belongs
 * to their scopes too, and is invalidated with them.
 */
export class InFlight {
  /** The sequence number that the computation began with. */
  began: number;
  readonly scopeKey: string;
  tags: Iterable<string>;
  paths: Iterable<string>;
  /** The keys of its parts; `undefined` if there are none. */
  keys: Iterable<string> | undefined;
  /** When it was started, in milliseconds. */
  readonly since: number;
  /** The key's record when the function was called. */
  before: CacheRecord | undefined;
  result: Result = "miss";
  /** Why its value isn't stored, in words. */
  obstacle: string | undefined;
  /** The value. Set before the caller that began it waits. */
  computed!: Promise<unknown>;
  /** The value, or `undefined` for other callers once it asks for the user. */
  readonly shared = Promise.withResolvers<unknown>();
  /** The call that began it. */
  readonly call: Call;
  readonly #owner: object;
  readonly #waitsFor = new Set<InFlight>();
  #scopes: Record<"tags" | "paths" | "keys", Set<string>> | undefined;
  #watch: SharedScope | undefined;
  #isOver = false;

  /**
   * Creates a computation that hasn't begun.
   *
   * @param owner Identifies its cache.
   * @param call The call that begins it.
   */
  constructor(
    owner: object,
    call: Call,
    { scopeKey, tags, paths, began }: Dependencies,
    since: number,
  ) {
    this.#owner = owner;
    this.call = call;
    this.scopeKey = scopeKey;
    this.tags = tags;
    this.paths = paths;
    this.began = began;
    this.since = since;
  }

  /** Whether it computes a key of a cache. */
  isOf(owner: object, scopeKey: string): boolean {
    return !this.#isOver && owner === this.#owner && scopeKey === this.scopeKey;
  }

  /**
   * Runs the function. Values that it gets from the cache become parts.
   *
   * @param release Called when a function that may ask for the user does so.
   */
  run(release: () => void): unknown {
    const { key, mayAsk = false, compute } = this.call;
    const onAsked = mayAsk ? () => void release() : undefined;
    this.#watch = new SharedScope(key, onAsked, this);
    return this.#watch.compute(compute);
  }

  /** Adds the scopes of a part. */
  include(part: Omit<Dependencies, "began">, owner: object): void {
    // Another cache has other numbers. Code that continues after the result, such
    // as a timer, adds nothing to it.
    if (this.#isOver || owner !== this.#owner) return;
    this.#scopes ??= {
      tags: new Set(this.tags),
      paths: new Set(this.paths),
      keys: new Set(),
    };
    const { tags, paths, keys } = Object.assign(this, this.#scopes);
    for (const tag of part.tags) tags.add(tag);
    for (const path of part.paths) paths.add(path);
    keys.add(part.scopeKey);
    for (const key of part.keys ?? []) keys.add(key);
  }

  /** Returns its result for a call: the one that began it gets any value. */
  resultFor(call: Call): Promise<unknown> {
    return call === this.call ? this.computed : this.shared.promise;
  }

  /** Waits for the result of another computation. */
  async waitFor(other: InFlight, call: Call): Promise<unknown> {
    this.#waitsFor.add(other);
    try {
      return await other.resultFor(call);
    } finally {
      this.#waitsFor.delete(other);
    }
  }

  /** Returns this one and all that it waits for, directly or not. */
  awaited(): Set<InFlight> {
    const reached = new Set<InFlight>([this]);
    // Iterating over a set also visits elements that are added meanwhile.
    for (const one of reached) {
      for (const next of one.#waitsFor) reached.add(next);
    }
    return reached;
  }

  /** Ends it. Nothing is added any more. */
  end(): void {
    this.#isOver = true;
    this.#watch?.end();
    this.before = undefined;
  }
}

/** Returns the computation that code in a scope is part of. */
export function currentInFlight(
  scope: RequestScope | undefined = currentScope(),
): InFlight | undefined {
  return scope?.computation as InFlight | undefined;
}
