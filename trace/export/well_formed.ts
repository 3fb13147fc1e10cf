/**
 * Whether a string is Unicode. JavaScript's may hold one half of a surrogate
 * pair, which UTF-8 and with it files and protobuf have no form for.
 *
 * `String.prototype.isWellFormed` is many times faster where there is one.
 */
function isWellFormed(text: string): boolean {
  return text.isWellFormed?.() ?? !/[\ud800-\udfff]/u.test(text);
}

/** The same text with U+FFFD for each half of a surrogate pair. */
export function toWellFormed(text: string): string {
  return isWellFormed(text)
    ? text
    : text.replace(/[\ud800-\udfff]/gu, "\ufffd");
}
