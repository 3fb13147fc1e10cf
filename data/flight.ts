import { WatchScope } from "../core/watch_scope.ts";
import { currentScope, type RequestScope } from "../core/request_scope.ts";
import type { Call, Result } from "./call.ts";
import { refusePersonal } from "./personal.ts";
import type { Dated } from "./scope_table.ts";
import type { CacheRecord } from "./store.ts";

/** What a computation belongs to from the start. */
export type FlightScopes = Pick<Dated, "scopeKey" | "tags" | "paths">;

/**
 * A computation under way, and whatever is known about its result.
 *
 * What it calls through the same cache becomes a part of what it gives. So it
 * belongs to the scopes of its parts as well, and is invalid with them.
 */
export class Flight implements Dated {
  began: number;
  readonly scopeKey: string;
  tags: readonly string[];
  paths: readonly string[];
  keys: readonly string[] | undefined;
  /** When it was set going. */
  readonly since: number;
  /** The record of the key when the function was called. */
  before: CacheRecord | undefined;
  result: Result = "miss";
  /** What it gives; set as soon as there is a promise. */
  promise!: Promise<unknown>;
  /** The cache that it is for. */
  readonly #owner: object;
  /** The computations that it waits for. */
  readonly #waitsFor = new Set<Flight>();
  /** The scopes, once there are more than it began with. */
  #all: { tags: Names; paths: Names; keys: Names } | undefined;
  #scope: WatchScope | undefined;
  #isOver = false;

  /** Makes one for the cache `owner`. */
  constructor(
    owner: object,
    { scopeKey, tags, paths }: FlightScopes,
    began: number,
    since: number,
  ) {
    this.#owner = owner;
    this.scopeKey = scopeKey;
    this.tags = tags;
    this.paths = paths;
    this.began = began;
    this.since = since;
  }

  /** Whether it still computes this key for this cache. */
  isOf(owner: object, scopeKey: string): boolean {
    return !this.#isOver && owner === this.#owner && scopeKey === this.scopeKey;
  }

  /** Runs what computes. What that calls is a part of this. */
  run(call: Call): unknown {
    if (call.mayAsk) {
      this.#scope = new WatchScope(undefined, this);
      return this.#scope.run(call.compute);
    }
    const { onAsked, check } = refusePersonal(call.key);
    this.#scope = new WatchScope(onAsked, this);
    return this.#scope.run(() => check(call.compute));
  }

  /** Takes over the scopes of a part that a cache has given. */
  include(part: FlightScopes & Pick<Dated, "keys">, owner: object): void {
    // Another cache has other numbers. And who was started by this computation
    // and is still at work, such as a timer, is no part of its result.
    if (this.#isOver || owner !== this.#owner) return;
    const { tags, paths, keys } = this.#all ??= {
      tags: new Names(this.tags),
      paths: new Names(this.paths),
      keys: new Names([]),
    };
    this.tags = tags.add(part.tags);
    this.paths = paths.add(part.paths);
    this.keys = keys.add([part.scopeKey, ...part.keys ?? []]);
  }

  /** Waits for the result of another one. */
  async waitFor(other: Flight): Promise<unknown> {
    this.#waitsFor.add(other);
    try {
      return await other.promise;
    } finally {
      this.#waitsFor.delete(other);
    }
  }

  /** Whether `other` waits for it, or for one that does, or is itself. */
  isAwaitedBy(other: Flight): boolean {
    const reached = new Set([other]);
    // A set's iteration also visits what is added while it runs.
    for (const flight of reached) {
      if (flight === this) return true;
      for (const next of flight.#waitsFor) reached.add(next);
    }
    return false;
  }

  /** Ends it: nothing is added any more. */
  end(): void {
    this.#isOver = true;
    this.#scope?.end();
    this.before = undefined;
    this.#all = undefined;
  }
}

/** Returns the computation that code in a scope is part of. */
export function currentFlight(
  scope: RequestScope | undefined = currentScope(),
): Flight | undefined {
  return scope?.computation as Flight | undefined;
}

/** A list that has each name once. */
class Names {
  readonly #list: string[];
  readonly #known: Set<string>;

  constructor(names: readonly string[]) {
    this.#list = [...names];
    this.#known = new Set(names);
  }

  /** Gives the list. */
  add(names: readonly string[]): readonly string[] {
    for (const name of names) {
      if (this.#known.has(name)) continue;
      this.#known.add(name);
      this.#list.push(name);
    }
    return this.#list;
  }
}
