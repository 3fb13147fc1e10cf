/** Characters that no error text has (RFC 6749, section 4.1.2.1). */
const NOT_ERROR_TEXT = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;
/** Maximum length of a text that is searched for secrets. All are shorter. */
const MAX_SEARCHED = 16 * 1024;

/**
 * Returns a provider's error text for the log: short, on one line, and without
 * secrets that the provider echoes.
 *
 * @param secrets Values that must not appear in the log.
 * @param maxLength Maximum characters of the result.
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
    ? "an error that echoes a secret"
    : text.slice(0, maxLength).replace(NOT_ERROR_TEXT, "?");
}

/** Returns a text as it is, URL-decoded and form-decoded. */
function spellingsOf(text: string): string[] {
  // Node doesn't decode text with both invalid escapes and non-ASCII.
  const ascii = (encoded: string) =>
    encoded.toWellFormed().replaceAll(/[^\0-\x7f]+/g, encodeURIComponent);
  // URLSearchParams ignores invalid escapes, and never throws.
  const decode = (encoded: string) =>
    new URLSearchParams(`=${ascii(encoded).replaceAll("&", "%26")}`).get("")!;
  return [text, decode(text.replaceAll("+", "%2B")), decode(text)];
}
