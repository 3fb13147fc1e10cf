import { HASHED, keyHash } from "../core/key_part.ts";

/** Maximum length of a name that is remembered as it is. */
export const MAX_NAME = 500;

/**
 * Returns the name of a scope in the record of invalidations. A long one is hashed.
 * Clients choose some names, such as the paths of requests.
 */
export function shortName(name: string): string {
  return name.length > MAX_NAME ? HASHED + keyHash(name) : name;
}
