/**
 * Rules for options of several functions.
 *
 * @module
 */

import { type Rule, rule, withMethods } from "../../core/check/rules.ts";

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
    (value) => parts.every((part) => Object(value)[part] !== undefined),
  );
}

/** A transformer. */
export const aTransformer: Rule = withMethods(
  "an object with stringify and parse",
  "stringify",
  "parse",
);
