/** Characters that no error text has (RFC 6749, section 4.1.2.1). */
const NOT_ERROR_TEXT = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;
/** How much of a text is searched for secrets. None of ours is longer. */
const MAX_SEARCHED = 16 * 1024;

/**
 * Returns a provider's error text for the log: short, on one line, and without
 * secrets that the provider repeats.
 *
 * @param secrets Texts that must not be in the log.
 * @param maxLength How many characters of it are kept.
 */
export function errorText(
  text: unknown,
  secrets: readonly string[],
  maxLength = 100,
): string {
  if (typeof text !== "string") return "an error that is not a string";
  if (text.length > MAX_SEARCHED) return "an error that is too long";
  const spellings = spellingsOf(text);
  const isEcho = secrets.some((secret) =>
    secret !== "" && spellings.some((spelling) => spelling.includes(secret))
  );
  return isEcho
    ? "an error that says back what was sent"
    : text.slice(0, maxLength).replace(NOT_ERROR_TEXT, "?");
}

/** A text, also without the escapes of addresses and those of forms. */
function spellingsOf(text: string): string[] {
  // Node does not decode what has both bad escapes and more than ASCII.
  const ascii = (encoded: string) =>
    encoded.toWellFormed().replaceAll(/[^\0-\x7f]+/g, encodeURIComponent);
  // It decodes what can be decoded, and never throws.
  const decode = (encoded: string) =>
    new URLSearchParams(`=${ascii(encoded).replaceAll("&", "%26")}`).get("")!;
  return [text, decode(text.replaceAll("+", "%2B")), decode(text)];
}
