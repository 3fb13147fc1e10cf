/**
 * Removes all of one character from the end of a text, in linear time. A pattern
 * such as `/x+$/` can take quadratic time (ReDoS).
 */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
