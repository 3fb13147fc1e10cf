import { checkOptions } from "../core/check/check_options.ts";
import { show } from "../core/check/show.ts";
import { encodeCall } from "./argument_key.ts";
import type { Engine } from "./engine.ts";
import {
  lifetime,
  readPolicy,
  UNSTABLE_CACHE,
  type UnstableCacheOptions,
} from "./options.ts";
import { RecentKeys } from "./recent_keys.ts";
import type { RevalidateResult } from "./revalidation.ts";
import type { CacheScopes } from "./scope_table.ts";

/** A function that gives a promise. */
// deno-lint-ignore no-explicit-any -- whatever its arguments are
export type AsyncFunction = (...args: any[]) => Promise<unknown>;

/** A function whose results are kept, and what it can do beside that. */
export type CachedFunction<F extends AsyncFunction> = F & {
  /**
   * Invalidates the result of a call with these arguments, for every `this`.
   *
   * @throws {TypeError} If the arguments can't be part of a key.
   */
  invalidate(...args: Parameters<F>): Promise<RevalidateResult>;
  /**
   * The key of a call with these arguments: what the traces show.
   *
   * @throws {TypeError} If the arguments can't be part of a key.
   */
  key(...args: Parameters<F>): string;
};

/** What a cached function needs of its cache, which may change. */
export interface CacheAccess {
  readonly engine: Engine;
  readonly now: () => number;
  invalidate(scopes: CacheScopes): Promise<RevalidateResult>;
}

const DEFAULT_LIFETIME = 3_600;

/** Makes a cached function. See `unstable_cache`. */
export function createCachedFunction<F extends AsyncFunction>(
  access: () => CacheAccess,
  fn: F,
  keyParts: readonly string[],
  options: UnstableCacheOptions = {},
): CachedFunction<F> {
  const operation = "create cached function";
  if (typeof fn !== "function") {
    throw new TypeError(
      `Cannot ${operation}: fn must be a function, received ${show(fn)}`,
    );
  }
  checkKeyParts(keyParts, operation);
  if (Object.hasOwn(Object(options), "maxAge")) {
    throw new TypeError(
      `Cannot ${operation}: the lifetime of unstable_cache() is called revalidate, received maxAge`,
    );
  }
  checkOptions(options, UNSTABLE_CACHE, operation);
  const revalidate = options.revalidate ?? DEFAULT_LIFETIME;
  const policy = readPolicy(options, ["revalidate", revalidate], operation);
  // Without a name of its own a function may be taken for no other.
  const name = keyParts.length === 0
    ? `\0${identify(fn)}`
    : keyParts.map((part) => part.replaceAll(/[\\,]/g, "\\$&")).join();
  const takesThis = usesThis(fn);
  const isKept = policy.maxAge !== 0;
  const isQuick = isKept && !policy.clone;

  const recent = new RecentKeys((value) => encodeCall([name, value], 1));
  const keyOf = (args: readonly unknown[]) => encodeCall([name, ...args], 1);

  function run(this: unknown, ...args: unknown[]): Promise<unknown> {
    try {
      const key = args.length === 1 ? recent.keyOf(args[0]) : keyOf(args);
      const { engine } = access();
      const place = takesThis && isObject(this)
        ? `${key}@${identify(this)}`
        : key;
      if (isQuick) {
        const hit = engine.hit(place);
        if (hit !== undefined) return hit;
      }
      return compute(engine, place, key, this, args);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Apart, because a closure costs even a call that doesn't get to it. */
  function compute(
    engine: Engine,
    key: string,
    scopeKey: string,
    self: unknown,
    args: unknown[],
  ): Promise<unknown> {
    const compute = () => fn.apply(self, args);
    const call = { key, scopeKey, policy, compute, lifetime };
    return isKept ? engine.call(call) : engine.pass(call);
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

function checkKeyParts(keyParts: unknown, operation: string): void {
  if (Array.isArray(keyParts)) {
    const odd = keyParts.findIndex((part) => typeof part !== "string");
    if (odd === -1) return;
    throw new TypeError(
      `Cannot ${operation}: keyParts[${odd}] must be a string, received ${
        show(keyParts[odd])
      }`,
    );
  }
  throw new TypeError(
    `Cannot ${operation}: keyParts must be an array of strings, received ${
      show(keyParts)
    }`,
  );
}

/**
 * Whether a function can see its `this`. There are three ways to write that.
 * One that can't shares its values among all objects that it is a method of,
 * and among processes; else each object has its own.
 */
function usesThis(fn: AsyncFunction): boolean {
  return /\b(?:this|super|eval)\b|\[native code\]/.test(
    Function.prototype.toString.call(fn),
  );
}

/** Not a module, of which a function is no method. */
function isObject(value: unknown): value is object {
  return typeof value === "object"
    ? value !== null && Reflect.get(value, Symbol.toStringTag) !== "Module"
    : typeof value === "function";
}

/** Ids of objects, which no other process has. */
const ids = new WeakMap<object, string>();
const PROCESS = crypto.randomUUID();
let lastId = 0;

function identify(object: object): string {
  let id = ids.get(object);
  if (id === undefined) ids.set(object, id = `${PROCESS}:${++lastId}`);
  return id;
}
