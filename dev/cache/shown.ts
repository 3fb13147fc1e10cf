/**
 * Texts of keys and tags for people, without secrets.
 *
 * @module
 */

import { clip, redactText } from "../../core/redact/redact.ts";

/** Maximum characters of a key or a tag. */
const MAX_TEXT = 200;

/** Maximum tags in an attribute. */
const MAX_TAGS = 20;

/** Returns a tag or a path without secrets. */
export function shownName(name: string): string {
  return redactText(clip(name, MAX_TEXT));
}

/** The texts of tags. All records of a function share its array. */
const texts = new WeakMap<readonly string[], string>();

/** Returns tags as one text, separated by commas. */
export function shownTags(tags: readonly string[]): string {
  const known = texts.get(tags);
  if (known !== undefined) return known;
  const more = tags.length > MAX_TAGS ? ["…"] : [];
  const text = [...tags.slice(0, MAX_TAGS).map(shownName), ...more].join(",");
  texts.set(tags, text);
  return text;
}

/**
 * Returns a key without secrets. Of the headers in a page's key, it only contains
 * those that browsers send to all sites alike.
 */
export function shownKey(key: string): string {
  if (!key.startsWith("{")) {
    // Other strings that look like keys of functions or pages begin with `\0`.
    return shownName(key.replace(/^\0/, ""));
  }
  const { url, vary } = JSON.parse(key) as {
    readonly url: string;
    readonly vary: readonly (readonly [string, string | null])[];
  };
  const { pathname, search } = new URL(url);
  const headers = vary.map(([name, value]) =>
    /^accept(?:-\w+)?$/.test(name) ? `${name}: ${value ?? "none"}` : name
  );
  return shownName([`GET ${pathname}${search}`, ...headers].join(", "));
}
