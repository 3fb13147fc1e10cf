/** Whether `text` is exactly `bytes` bytes as lower-case hexadecimal digits. */
export function isHex(text: string, bytes: number): boolean {
  return text.length === bytes * 2 && /^[0-9a-f]+$/.test(text);
}
