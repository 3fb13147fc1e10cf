/**
 * Makes requests of what was thought up, as far as HTTP can carry it.
 *
 * @module
 */

/** The origin of requests that no server gets. */
export const ORIGIN = "http://localhost";

/** What is left of a text in a header: bytes, without the ends of lines. */
export function asHeader(text: string): string {
  return Array.from(text, (char) => {
    const code = char.charCodeAt(0) & 255;
    return [0, 10, 13].includes(code) ? "" : String.fromCharCode(code);
  }).join("");
}

/**
 * Makes a request.
 *
 * @returns `undefined` if no client could send it.
 */
export function requestOf(
  path: string,
  init: RequestInit = {},
): Request | undefined {
  try {
    return new Request(new URL(path, ORIGIN), init);
  } catch (error) {
    // A header with a line break, or a URL that is none.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
