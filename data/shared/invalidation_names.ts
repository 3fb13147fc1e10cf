/**
 * Invalidations as texts, for stores that use them as keys: a letter for the kind
 * of scope, then its name, or the hash of a long one.
 *
 * @module
 */

import type { Invalidation } from "../invalidation_log.ts";
import { shortName } from "../scope_name.ts";

/** The name of the scope that everything belongs to. */
export const EVERYTHING = "*";

const KINDS = { t: "tags", p: "paths", x: "prefixes", k: "keys" } as const;

/** Returns the names of scopes. The name of everything replaces all others. */
export function namesOf(what: Invalidation): string[] {
  if (what.all === true) return [EVERYTHING];
  return Object.entries(KINDS).flatMap(([letter, kind]) =>
    (what[kind] ?? []).map((name) => letter + shortName(name))
  );
}

/** Returns the scope of a name, or an empty one if its kind is unknown. */
export function invalidationOf(name: string): Invalidation {
  if (name[0] === EVERYTHING) return { all: true };
  const kind = KINDS[name[0] as keyof typeof KINDS];
  return kind === undefined ? {} : { [kind]: [name.slice(1)] };
}
