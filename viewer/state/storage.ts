/**
 * The browser's storage. Without it, the page works, but remembers nothing.
 *
 * @module
 */

/** Returns a stored text; empty for none. */
export function readText(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** Returns a stored object; an empty one for none. */
export function readObject(key: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(readText(key)));
  } catch {
    return {};
  }
}

/** Stores an object, if the browser allows it. */
export function storeObject(key: string, value: object): void {
  storeText(key, JSON.stringify(value));
}

/** Stores a text, if the browser allows it. */
export function storeText(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // It lasts until the page is closed.
  }
}
