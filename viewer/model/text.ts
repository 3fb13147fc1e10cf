/**
 * Prepares text of any length and origin for the page.
 *
 * @module
 */

/** Returns the message of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Maximum UTF-16 units of a value that are shown at first. */
export const SHOWN_LENGTH = 2000;

/**
 * Returns the first `length` UTF-16 units of a text, one less if that would cut
 * a surrogate pair.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const cutsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, cutsPair ? length - 1 : length);
}

/** The length of a piece of a very long text, in UTF-16 units. */
const CHUNK = 10_000;

/** Splits a very long text into pieces that a browser can lay out. */
export function splitIntoChunks(text: string): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length;) {
    const rest = text.slice(from, from + CHUNK + 1);
    const line = rest.length > CHUNK ? rest.lastIndexOf("\n") + 1 : 0;
    const chunk = rest.slice(0, line) || cutText(rest, CHUNK);
    chunks.push(chunk);
    from += chunk.length;
  }
  return chunks;
}

/** Splits a text at each occurrence of a normalized query, in any case. */
export function splitAtMatches(
  text: string,
  query: string,
): { readonly text: string; readonly match: boolean }[] {
  const lower = text.toLowerCase();
  // Some letters change length in lower case, so that indices differ.
  if (query === "" || lower.length !== text.length) {
    return [{ text, match: false }];
  }
  const parts: { text: string; match: boolean }[] = [];
  let from = 0;
  while (parts.length < 200) {
    const at = lower.indexOf(query, from);
    if (at === -1) break;
    if (at > from) parts.push({ text: text.slice(from, at), match: false });
    from = at + query.length;
    parts.push({ text: text.slice(at, from), match: true });
  }
  if (from < text.length) parts.push({ text: text.slice(from), match: false });
  return parts;
}
