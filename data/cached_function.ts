/**
 * Functions whose results are cached: under a key of the caller, or by their
 * arguments.
 *
 * @module
 */

import { checkValue } from "../core/check/options.ts";
import { aFunction, aString, type Rule, show } from "../core/check/rules.ts";
import { encodeCall } from "./argument_key.ts";
import type { Engine } from "./engine.ts";
import type { Invalidation } from "./invalidation_log.ts";
import {
  type CachedOptions,
  type CacheFunctionOptions,
  checkStrings,
  lifetime,
  readPolicy,
  someStrings,
} from "./options.ts";
import { RecentKeys } from "./recent_keys.ts";
import type { RevalidateResult } from "./revalidation.ts";

/** A function whose results can be cached, synchronous or asynchronous. */
// deno-lint-ignore no-explicit-any -- unknown[] excludes parameters, never[] those without a type
export type CacheableFunction = (...args: any[]) => unknown;

/**
 * A cached function, which returns promises. An asynchronous function keeps its
 * own type, with its type parameters and overloads.
 */
export type CachedFunction<F extends CacheableFunction> =
  & ([ReturnType<F>] extends [Promise<unknown>] ? F : (
    this: ThisParameterType<F>,
    ...args: Parameters<F>
  ) => Promise<Awaited<ReturnType<F>>>)
  & {
    /**
     * Invalidates the result of a call with these arguments, for all instances.
     *
     * @throws {TypeError} If the arguments can't be part of a key, as a rejection.
     */
    invalidate(...args: Parameters<F>): Promise<RevalidateResult>;
    /**
     * Returns the key of a call with these arguments, as traces show it.
     *
     * @throws {TypeError} If the arguments can't be part of a key.
     */
    key(...args: Parameters<F>): string;
  };

/** The parts of a cache that its functions use. */
export interface CacheAccess {
  readonly engine: Engine;
  readonly now: () => number;
  invalidate(what: Invalidation): Promise<RevalidateResult>;
}

/** In seconds. */
const DEFAULT_LIFETIME = 3_600;

const aKey: Rule = {
  ...aString,
  describe: (value) =>
    typeof value === "function"
      ? "a function; to cache by arguments, use cacheFunction(fn, keyParts, options)"
      : show(value),
};

const aComputation: Rule = {
  ...aFunction,
  describe: (value) =>
    value instanceof Promise
      ? "a promise; pass the function that creates it"
      : show(value),
};

const someKeyParts: Rule = {
  ...someStrings,
  describe: (value) =>
    typeof value === "object" && value !== null
      ? "an object; options are the third parameter"
      : someStrings.describe(value),
};

/** See `cached()`. */
export function callCached<T>(
  engine: Engine,
  key: string,
  fn: () => T | Promise<T>,
  options: CachedOptions,
): Promise<T> {
  try {
    const place = typeof key === "string" ? storeKey(key) : "";
    // A hit checks only what it needs; a miss checks everything.
    if (place !== "" && options?.maxAge !== 0 && options?.clone !== true) {
      const hit = engine.hit(place);
      if (hit !== undefined) return hit as Promise<T>;
    }
    const operation = "call cached()";
    checkValue(key, "key", aKey, operation);
    checkValue(fn, "fn", aComputation, operation);
    const policy = readPolicy(options, "maxAge", undefined, operation);
    const call = { key: place, scopeKey: place, policy, compute: fn, lifetime };
    return (policy.maxAge === 0
      ? engine.pass(call)
      : engine.call(call)) as Promise<T>;
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * Returns the key that the store uses. It never starts with `[` or `{`, as the
 * keys of cached functions and pages do.
 */
function storeKey(key: string): string {
  const first = key[0];
  const isTaken = first === "[" || first === "{" || first === "\0";
  return isTaken || first === undefined ? `\0${key}` : key;
}

/** See `cacheFunction()`. */
export function createCachedFunction<F extends CacheableFunction>(
  access: () => CacheAccess,
  fn: F,
  keyParts: readonly string[] = [],
  options: CacheFunctionOptions = {},
): CachedFunction<F> {
  const operation = "create cached function";
  checkValue(fn, "fn", aComputation, operation);
  checkValue(keyParts, "keyParts", someKeyParts, operation);
  checkStrings(keyParts, "keyParts", operation, aString);
  const policy = readPolicy(options, "revalidate", DEFAULT_LIFETIME, operation);
  // A function without a name shares with no other.
  const name = keyParts.length === 0
    ? `\0${identify(fn)}`
    : keyParts.map((part) => part.replaceAll(/[\\,]/g, "\\$&")).join();
  const isStored = policy.maxAge !== 0;
  const isQuick = isStored && !policy.clone;
  const recent = new RecentKeys((value) => encodeCall([name, value], 1));
  const keyOf = (args: readonly unknown[]) => encodeCall([name, ...args], 1);

  function run(this: unknown, ...args: unknown[]): Promise<unknown> {
    try {
      const scopeKey = args.length === 1 ? recent.keyOf(args[0]) : keyOf(args);
      const { engine } = access();
      const instance = isInstance(this) ? this : undefined;
      const key = instance === undefined
        ? scopeKey
        : `${scopeKey}@${identify(instance)}`;
      const hit = isQuick ? engine.hit(key) : undefined;
      return hit ?? compute(engine, key, scopeKey, instance, args);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Apart from `run()`, which would create the closure for hits too. */
  function compute(
    engine: Engine,
    key: string,
    scopeKey: string,
    instance: object | undefined,
    args: unknown[],
  ): Promise<unknown> {
    const compute = () => fn.apply(instance, args);
    const call = { key, scopeKey, policy, compute, lifetime };
    return isStored ? engine.call(call) : engine.pass(call);
  }

  return Object.defineProperties(run, {
    name: { value: fn.name, configurable: true },
    length: { value: fn.length, configurable: true },
    key: { value: (...args: unknown[]) => keyOf(args) },
    invalidate: {
      // `async`, so that arguments without a key are a rejection here too.
      value: async (...args: unknown[]) =>
        await access().invalidate({ keys: [keyOf(args)] }),
    },
  }) as unknown as CachedFunction<F>;
}

/**
 * Whether `this` is an instance of a class. For `api.load()`, where `api` is a
 * plain object or a module, the function is meant, not a method.
 */
function isInstance(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null;
}

/** Ids of objects, unique among all processes. */
const ids = new WeakMap<object, string>();
let processId: string | undefined;
let lastId = 0;

function identify(object: object): string {
  let id = ids.get(object);
  if (id === undefined) {
    processId ??= crypto.randomUUID();
    ids.set(object, id = `${processId}:${++lastId}`);
  }
  return id;
}
