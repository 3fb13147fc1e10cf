/**
 * Creates requests from generated input, as far as HTTP allows it.
 *
 * @module
 */

/** The origin of requests that aren't sent over a socket. */
export const ORIGIN = "http://localhost";

/**
 * Returns the part of a text that a header can carry: bytes without line
 * breaks.
 */
export function asHeader(text: string): string {
  return Array.from(text, (char) => {
    const code = char.charCodeAt(0) & 255;
    return [0, 10, 13].includes(code) ? "" : String.fromCharCode(code);
  }).join("");
}

/**
 * Creates a request.
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
    // A header with a line break, or an invalid URL.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
