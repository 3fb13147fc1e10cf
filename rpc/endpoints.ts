/**
 * Finds procedures by path: all of a router's, in one table.
 *
 * The table is a `Map` of whole paths, so a path through `__proto__` or
 * `constructor` is one that isn't there, like any other.
 *
 * @module
 */

import type { Endpoint } from "./call.ts";

/** The procedures of a router by dotted path. */
export type Endpoints = ReadonlyMap<string, Endpoint>;

const KINDS: readonly unknown[] = ["query", "mutation", "subscription"];

/**
 * Lists the procedures of a definition, in the order in which they stand.
 *
 * @throws {TypeError} If a key can't be part of a path, or a value is neither
 * a procedure nor a definition nor a router.
 */
export function listEndpoints(def: object): Endpoints {
  let endpoints = known.get(def);
  if (endpoints === undefined) {
    endpoints = new Map<string, Endpoint>();
    collect(def, [], [], endpoints as Map<string, Endpoint>);
    known.set(def, endpoints);
  }
  return endpoints;
}

/** A caller is made for each request; its router's table only once. */
const known = new WeakMap<object, Endpoints>();

function collect(
  def: object,
  path: readonly string[],
  around: readonly object[],
  endpoints: Map<string, Endpoint>,
): void {
  if (around.includes(def)) {
    throw new TypeError(
      `Cannot create router: ${
        path.join(".")
      } leads back to a router around it`,
    );
  }
  for (const [key, value] of Object.entries(def)) {
    checkKey(key, path);
    const here = [...path, key];
    if (isProcedure(value)) {
      const name = here.join(".");
      endpoints.set(name, { path: name, depth: here.length, procedure: value });
    } else if (isPlain(value)) {
      collect(nested(value), here, [...around, def], endpoints);
    } else {
      throw new TypeError(
        `Cannot create router: ${
          here.join(".")
        } must be a procedure or an object of procedures, received ${
          value === null ? "null" : typeof value
        }`,
      );
    }
  }
}

/** A router stands for its definition. */
function nested(value: object): object {
  const { _def: def } = value as { _def?: unknown };
  return typeof def === "object" && def !== null && !isProcedure(def)
    ? def
    : value;
}

function isProcedure(value: unknown): value is Endpoint["procedure"] {
  const { kind, handler } = Object(value) as Partial<Endpoint["procedure"]>;
  return KINDS.includes(kind) && typeof handler === "function";
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `then` would make a promise of the client's path when it is awaited. */
function checkKey(key: string, path: readonly string[]): void {
  if (key !== "" && key !== "then" && !key.includes(".")) return;
  throw new TypeError(
    `Cannot create router: ${JSON.stringify(key)} in ${
      path.join(".") || "the router"
    } can't be the name of a procedure: it must not be empty, "then", or hold a dot`,
  );
}
