/**
 * Guards as fragments of a route's `config`. They combine in any order. A fragment
 * holds its rule under two keys:
 *
 *     { auth: rule,            for readers; the next fragment overwrites it
 *       "guard 3f2…": rule }   unique, so that spreading keeps every rule
 *
 * @module
 */

import { kindOf, show } from "./check/rules.ts";
import type { AuthFragment, AuthRule } from "./route.ts";

interface ModuleGuard {
  readonly rule: AuthRule;
  readonly demands: unknown;
  readonly toRule: (all: readonly never[]) => AuthRule;
}

/** The start of the keys of guards, and of `UNCALLED` in middleware.ts. */
const KEY = "guard ";
/** Keyed by `check`, because a copied rule has the check of the original. */
const moduleGuards = new WeakMap<AuthRule["check"], ModuleGuard>();

/**
 * Creates a guard from a rule of the application. Spread it into the `config`
 * of a route, or mount it with an adapter such as `toHono()`.
 *
 * Guards of one `config` combine. The kit's run first, then the application's,
 * in the order of their spreads.
 *
 * @param rule The rule. Its `check` runs before the route's code.
 * @throws {TypeError} If `rule` has no `check` function.
 *
 * @example
 * ```ts
 * import { createApp, createGuard, errorResponse } from "@quartet/kit/app";
 *
 * const internal = createGuard({
 *   required: false,
 *   check: (request) =>
 *     request.headers.has("x-internal")
 *       ? undefined
 *       : errorResponse(404, "NOT_FOUND", "There is nothing at this path"),
 * });
 * const app = createApp({
 *   routes: [{ path: "/", config: { ...internal }, loader: () => "in" }],
 * });
 * const response = await app.fetch(new Request("http://localhost/"));
 * console.assert(response.status === 404);
 * ```
 */
export function createGuard(rule: AuthRule): AuthFragment {
  if (!isRule(rule)) {
    const received = kindOf(rule);
    throw new TypeError(
      `Cannot create guard: rule must have a check function, received ${received}`,
    );
  }
  return fragmentOf(rule);
}

/**
 * Creates a guard of a module. Several in one `config` become one rule.
 *
 * @param demands The guard's demands.
 * @param toRule Creates the rule for the demands of one or several guards. Guards
 * with the same function combine with each other.
 */
export function createModuleGuard<T>(
  demands: T,
  toRule: (all: readonly T[]) => AuthRule,
): AuthFragment {
  const rule = Object.freeze(toRule([demands]));
  moduleGuards.set(rule.check, { rule, demands, toRule });
  return fragmentOf(rule);
}

function fragmentOf(rule: AuthRule): AuthFragment {
  return { auth: rule, [`${KEY}${crypto.randomUUID()}`]: rule };
}

/**
 * Merges all guards of `config` into one rule.
 *
 * @param config A route's `config`, or the argument of an adapter.
 * @param operation The operation in error messages, such as `add route /a`.
 * @param place The prefix of keys in error messages: `config.`, or empty.
 * @returns The rule, or `undefined` without guards.
 * @throws {TypeError} If a key holds anything other than a guard's rule.
 */
export function readGuards(
  config: object,
  operation: string,
  place: string,
): AuthRule | undefined {
  const rules = new Set<AuthRule>();
  for (const [key, value] of entriesOf(config)) {
    const name = `${place}${String(key)}`;
    if (isRule(value)) {
      checkOriginal(value, name, operation);
      rules.add(value);
    } else if (key === "auth" || String(key).startsWith(KEY)) {
      throw new TypeError(
        `Cannot ${operation}: ${place}auth must have a check function, as in { ...requireAuth() }`,
      );
    } else if (isRule((value as Partial<AuthFragment> | null)?.auth)) {
      throw misplaced(operation, `${name} holds one`);
    } else if (Object.prototype.propertyIsEnumerable.call(config, key)) {
      const received = show(value);
      throw new TypeError(
        `Cannot ${operation}: ${name} must be a guard's rule, received ${received}; the one known key is auth, as in { ...requireAuth() }`,
      );
    }
  }
  if (rules.size > 0) return combineRules([...rules]);
  // A promise, a `Map` or a `Set` of guards has no key with a guard.
  const prototype = Object.getPrototypeOf(config);
  if (prototype === null || prototype === Object.prototype) return undefined;
  const kind = Object.prototype.toString.call(config).slice(8, -1);
  throw new TypeError(
    `Cannot ${operation}: a config without guards must be a plain object, received an instance of ${kind}; spread guards into it, as in { ...requireAuth() }`,
  );
}

/** Whether an object holds a guard under any key. */
export function holdsGuard(value: object): boolean {
  return entriesOf(value).some(([, rule]) => isRule(rule));
}

/** Returns the error for a guard in a place where nothing enforces it. */
export function misplaced(operation: string, problem: string): TypeError {
  return new TypeError(
    `Cannot ${operation}: a guard must be spread into config, as in config: { ...requireAuth() }, and ${problem}`,
  );
}

/**
 * Returns all entries, also inherited and non-enumerable ones, whose guards apply
 * too. `auth` comes last, because it holds the rule of the last fragment.
 */
function entriesOf(config: object): [string | symbol, unknown][] {
  const keys = new Set(Reflect.ownKeys(config));
  for (const key in config) keys.add(key);
  keys.delete("auth");
  if ("auth" in config) keys.add("auth");
  return [...keys].map((key) => [key, Reflect.get(config, key)]);
}

function isRule(value: unknown): value is AuthRule {
  return typeof (value as Partial<AuthRule> | null | undefined)?.check ===
    "function";
}

/** Rejects a copied rule. It may mix one rule's roles with another's check. */
function checkOriginal(rule: AuthRule, name: string, operation: string): void {
  const known = moduleGuards.get(rule.check);
  if (known === undefined || known.rule === rule) return;
  throw new TypeError(
    `Cannot ${operation}: ${name} must be an original rule, received a copy; its check would ignore changes, so spread the guard itself, as in { ...requireAuth() }`,
  );
}

/** Returns a rule for all. The application's rules come after the modules'. */
function combineRules(rules: readonly AuthRule[]): AuthRule {
  const guards = rules.flatMap((rule) => moduleGuards.get(rule.check) ?? []);
  const others = rules.filter((rule) => !moduleGuards.has(rule.check));
  const combined = [...Map.groupBy(guards, ({ toRule }) => toRule)]
    // The demands are those that the function was given with.
    .map(([toRule, all]) => toRule(all.map(({ demands }) => demands as never)))
    .concat(others);
  return combined.length === 1 ? combined[0]! : {
    required: combined.some(({ required }) => required),
    async check(request, context) {
      for (const rule of combined) {
        const refusal = await rule.check(request, context);
        // Anything but undefined refuses. The host checks that it's a Response.
        if (refusal !== undefined) return refusal;
      }
      return undefined;
    },
  };
}
