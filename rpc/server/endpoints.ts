/**
 * Finds a router's procedures by path, in one table.
 *
 * The table consists of `Map`s, so paths such as `__proto__` or `constructor`
 * lead nowhere.
 *
 * @module
 */

import {
  isObject,
  kindOf,
  type Rule,
  rule,
  show,
  withMethods,
} from "../../core/check/rules.ts";
import type { Endpoint } from "./call.ts";

/** The parts of a router that an outer router uses. */
interface NestedRouter {
  readonly _def: object;
  readonly handler: object;
  readonly websocket: object;
}

/** The procedure at a key, and the keys below it. */
interface Branch {
  endpoint?: Endpoint;
  readonly next: Map<string, Branch>;
}

/** The procedures of a router by dotted path, and by the keys of a path. */
export class Endpoints extends Map<string, Endpoint> {
  /** The routers in it, by dotted path. */
  readonly routers = new Map<string, NestedRouter>();
  readonly #root: Branch = { next: new Map() };

  /** Adds a procedure. */
  add(keys: readonly string[], procedure: Endpoint["procedure"]): void {
    const path = keys.join(".");
    const endpoint = { path, procedure };
    this.set(path, endpoint);
    let branch = this.#root;
    for (const key of keys) {
      let next = branch.next.get(key);
      if (next === undefined) branch.next.set(key, next = { next: new Map() });
      branch = next;
    }
    branch.endpoint = endpoint;
  }

  /**
   * Finds a procedure by the keys of its path. A look-up per key costs 0.2 µs
   * less than joining them, because the JSON parser has hashed the keys.
   */
  find(keys: readonly string[]): Endpoint | undefined {
    let branch: Branch | undefined = this.#root;
    for (const key of keys) branch = branch?.next.get(key);
    return branch?.endpoint;
  }
}

const KINDS: readonly unknown[] = ["query", "mutation", "subscription"];

/**
 * Lists the procedures of a definition, in their order.
 *
 * @throws {TypeError} If a key can't be part of a path, or a value is neither a
 * procedure nor a definition nor a router.
 */
export function listEndpoints(def: object): Endpoints {
  let endpoints = known.get(def);
  if (endpoints === undefined) {
    if (!isObject(def)) {
      throw cannot(
        `def must be an object of procedures, received ${kindOf(def)}`,
      );
    }
    endpoints = new Endpoints();
    collect(def, [], [], endpoints);
    known.set(def, endpoints);
  }
  return endpoints;
}

/**
 * Callers are created for each request, the table of their router only once.
 */
const known = new WeakMap<object, Endpoints>();

function collect(
  def: object,
  path: readonly string[],
  around: readonly object[],
  endpoints: Endpoints,
): void {
  if (around.includes(def)) {
    throw cannot(`${path.join(".")} leads back to a router around it`);
  }
  for (const [key, value] of Object.entries(def)) {
    checkKey(key, path);
    const here = [...path, key];
    const name = here.join(".");
    if (isProcedure(value)) endpoints.add(here, value);
    else if (isUnfinished(value)) {
      throw cannot(
        `${name} must have a handler; add it with query(), mutation() or subscription()`,
      );
    } else if (isObject(value)) {
      const isNested = isRouter(value);
      if (isNested) endpoints.routers.set(name, value);
      collect(isNested ? value._def : value, here, [...around, def], endpoints);
    } else {
      const received = kindOf(value);
      throw cannot(
        `${name} must be a procedure or an object of procedures, received ${received}`,
      );
    }
  }
}

/** Whether something still needs its handler, such as `procedure.input(schema)`. */
function isUnfinished(value: unknown): boolean {
  const { query, mutation, subscription } = Object(value);
  return [query, mutation, subscription].every((it) =>
    typeof it === "function"
  );
}

function cannot(problem: string): TypeError {
  return new TypeError(`Cannot create router: ${problem}`);
}

/**
 * A nested router counts as its definition. No other object may have a `_def`.
 */
function isRouter(value: object): value is NestedRouter {
  const { _def, handler, websocket } = value as Partial<NestedRouter>;
  return !!(_def && handler && websocket);
}

function isProcedure(value: unknown): value is Endpoint["procedure"] {
  const { kind, handler } = Object(value) as Partial<Endpoint["procedure"]>;
  return KINDS.includes(kind) && typeof handler === "function";
}

/**
 * Names that a client's path can't have, see `createPathProxy()`, and `_def`,
 * which would make its object look like a router.
 */
const TAKEN = ["", "then", "toJSON", "_def"];

function checkKey(key: string, path: readonly string[]): void {
  if (!TAKEN.includes(key) && !key.includes(".")) return;
  throw cannot(
    `${show(key)} in ${
      path.join(".") || "the router"
    } can't be the name of a procedure: it must not be empty, "then", "toJSON" or "_def", or hold a dot`,
  );
}

/** The path that a router is served at by default. */
export const DEFAULT_ENDPOINT = "/api/rpc";

/** The path of an endpoint, as `URL` spells it. */
export const anEndpoint: Rule = rule(
  'a path such as "/api/rpc", without a slash at its end',
  (value) =>
    typeof value === "string" && /^\/.*[^/]$/.test(value) &&
    URL.parse(`http://localhost${value}`)?.pathname === value,
);

/** Returns a rule for a router that has certain parts. */
export function aRouterWith(
  ...parts: readonly ("_def" | "handler" | "websocket")[]
): Rule {
  return rule(
    "what createRouter() returns",
    (value) =>
      parts.every((part) =>
        part === "websocket"
          ? typeof Object(Object(value)[part]).message === "function"
          : Object(value)[part] !== undefined
      ),
  );
}

/** A transformer. */
export const aTransformer: Rule = withMethods(
  "an object with stringify and parse",
  "stringify",
  "parse",
);
