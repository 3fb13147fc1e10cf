import { show } from "../core/check/show.ts";
import { checkStrings, normalizeTags } from "./check.ts";
import { readPattern } from "./paths.ts";
import type { CacheScopes } from "./scope_table.ts";

/** What to invalidate. */
export interface RevalidateOptions {
  /** Tags. */
  readonly tags?: readonly string[];
  /** Paths, exact or ending in `/*`. */
  readonly paths?: readonly string[];
  /** Everything. */
  readonly all?: boolean;
}

/** What was invalidated. */
export interface RevalidateResult {
  /**
   * Whether every process that shares the store knows of it. In this process
   * it is done in any case.
   */
  readonly success: boolean;
  /** What was named. */
  readonly revalidated: {
    /** The tags, as given. */
    readonly tags: string[];
    /** The paths, as given. */
    readonly paths: string[];
  };
  /** When, in milliseconds of the Unix epoch. */
  readonly timestamp: number;
}

const NAMES: readonly string[] = ["tags", "paths", "all"];

/**
 * Checks what somebody wants to invalidate.
 *
 * @throws {TypeError} That says what is wrong with it.
 */
export function readScopes(options: unknown): CacheScopes {
  const operation = "revalidate";
  if (
    typeof options !== "object" || options === null || Array.isArray(options)
  ) {
    throw new TypeError(
      `Cannot revalidate: options must be an object with tags, paths or all, received ${
        show(options)
      }`,
    );
  }
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(
      `Cannot revalidate: options must be tags, paths or all, received ${
        show(unknown)
      }`,
    );
  }
  const { tags = [], paths = [], all = false } = options as Record<
    string,
    unknown
  >;
  checkStrings(tags, "tags", operation);
  checkStrings(paths, "paths", operation);
  if (typeof all !== "boolean") {
    throw new TypeError(
      `Cannot revalidate: all must be true or false, received ${show(all)}`,
    );
  }
  const exact: string[] = [];
  const prefixes: string[] = [];
  for (const path of paths) {
    const scope = readPattern(path);
    if (typeof scope === "string") {
      throw new TypeError(
        `Cannot revalidate: a path ${scope}, received ${show(path)}`,
      );
    }
    if ("path" in scope) exact.push(scope.path);
    else prefixes.push(scope.prefix);
  }
  return { tags: normalizeTags(tags), paths: exact, prefixes, all };
}
