/**
 * Shortens a text and notes how much is missing. The result doesn't keep the
 * original in memory. In V8, a plain `slice` does.
 *
 * @param text Text of any length.
 * @param maxLength Characters to keep, not counting the note.
 */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Not between the halves of a surrogate pair.
  const last = text.charCodeAt(maxLength - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? maxLength - 1 : maxLength;
  const note = `… (${text.length - maxLength} more characters)`;
  return JSON.parse(JSON.stringify(text.slice(0, end) + note));
}
