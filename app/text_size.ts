const encoder = new TextEncoder();

/** Whether a text is longer than `limit` bytes; most are short at first sight. */
export function isLonger(text: string, limit: number): boolean {
  if (text.length > limit) return true;
  return text.length * 3 > limit && encoder.encode(text).length > limit;
}
