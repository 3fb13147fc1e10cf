/**
 * Shortens a text and says by how much. The result does not keep the whole
 * original in memory, as a plain `slice` of a string does in V8.
 *
 * @param text Text of any length.
 * @param maxLength Characters to keep, the note not counted.
 */
export function clip(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : clipAt(text, maxLength);
}

/** Ends a text at an index, which must be in it, and says what is missing. */
export function clipAt(text: string, index: number, instead = ""): string {
  // Not between the halves of a surrogate pair.
  const last = text.charCodeAt(index - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? index - 1 : index;
  const note = `… (${text.length - index} more characters)`;
  return JSON.parse(JSON.stringify(text.slice(0, end) + instead + note));
}
