/**
 * CacheScopes as texts, for stores that keep them as keys: a letter for the kind,
 * then the name.
 *
 * @module
 */

import type { CacheScopes } from "../scope_table.ts";

/** The name of the scope that everything belongs to. */
export const EVERYTHING = "*";

/** The names of scopes. With everything, nothing else counts. */
export function namesOf(scopes: CacheScopes): string[] {
  if (scopes.all === true) return [EVERYTHING];
  const { tags = [], paths = [], prefixes = [], keys = [] } = scopes;
  return [
    ...tags.map((tag) => `t${tag}`),
    ...paths.map((path) => `p${path}`),
    ...prefixes.map((prefix) => `x${prefix}`),
    ...keys.map((key) => `k${key}`),
  ];
}

/** The scope of a name; nothing if it is of a kind that is not known. */
export function scopesOf(name: string): CacheScopes {
  const rest = [name.slice(1)];
  switch (name[0]) {
    case "t":
      return { tags: rest };
    case "p":
      return { paths: rest };
    case "x":
      return { prefixes: rest };
    case "k":
      return { keys: rest };
    case EVERYTHING:
      return { all: true };
    default:
      return {};
  }
}
