/**
 * Shortens a text and notes by how much. The result doesn't keep the whole
 * original in memory. In V8, a plain `slice` does.
 *
 * @param text Text of any length.
 * @param maxLength Characters to keep, not counting the note.
 */
export function clip(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : clipAt(text, maxLength);
}

/** Cuts a text at an index within it, and notes how much is missing. */
export function clipAt(text: string, index: number, instead = ""): string {
  // Not between the halves of a surrogate pair.
  const last = text.charCodeAt(index - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? index - 1 : index;
  const note = `… (${text.length - index} more characters)`;
  return JSON.parse(JSON.stringify(text.slice(0, end) + instead + note));
}
