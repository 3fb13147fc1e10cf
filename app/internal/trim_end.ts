/**
 * A text without a character at its end, however often it stands there. A
 * pattern such as `/x+$/` begins again at each `x` of a text that goes on.
 */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
