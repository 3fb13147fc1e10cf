/**
 * Redacts secrets in one URL: user info, values of secret parameters, the
 * fragment, and the same in URLs inside its values.
 *
 * ```
 * https://ada:pw@host/cb?token=abc&next=https%3A%2F%2Fhost%2F%3Fcode%3Dx#frag
 *         └ info ┘       └ pair ─┘      └ nested, decoded and redacted ┘└───┘
 * ```
 *
 * It takes linear time: loops visit each character a fixed number of times.
 * Regular expressions could backtrack.
 *
 * @module
 */

/** Replaces a secret. */
export const REDACTED = "REDACTED";

/** Redacts a percent-decoded value. */
type RedactDecoded = (text: string) => string;

/** Redacts a URL, or any text without white space that may be one. */
export function redactURL(text: string, redact: RedactDecoded): string {
  const end = endOfAddress(text);
  const address = withoutFragment(withoutUserInfo(text.slice(0, end)));
  return redactPairs(address, redact) + text.slice(end);
}

/** Punctuation that a sentence or a line of code puts after a URL. */
const TRAILING = ")]}.,;:!'";

function endOfAddress(text: string): number {
  let end = text.length;
  while (end > 0 && TRAILING.includes(text[end - 1]!)) end--;
  return end;
}

/**
 * The slashes before user info: `//` after a scheme, or at the start of a URL
 * without one. JSON may escape them.
 */
const SLASHES = /(?:^|[:=([,'])(?:\\{0,8}\/){2}/g;

function withoutUserInfo(text: string): string {
  let result = "";
  let rest = 0;
  const matches = [...text.matchAll(SLASHES)];
  for (const [i, { 0: slashes, index }] of matches.entries()) {
    const start = index + slashes.length;
    const authority = text.slice(start, matches[i + 1]?.index);
    // Without a scheme, `//` may start a comment.
    const isAddress = slashes.startsWith(":") ||
      /^[^/?#\\@:]*:[^/?#\\]*@/.test(authority);
    const end = isAddress ? endOfUserInfo(authority) : 0;
    if (end === 0) continue;
    result += `${text.slice(rest, start)}${REDACTED}:${REDACTED}@`;
    rest = start + end;
  }
  return result + text.slice(rest);
}

/** Returns the end of the user info in the text after `://`, or 0 if none. */
function endOfUserInfo(text: string): number {
  const slash = text.search(/[/?#\\]/);
  const authority = slash === -1 ? text : text.slice(0, slash);
  const at = authority.lastIndexOf("@");
  if (at !== -1) return at + 1;
  if (isHostList(authority)) return 0;
  // A password may contain `/`, or its end may be cut off.
  return text.lastIndexOf("@") + 1 || authority.length;
}

/** Whether a text is `host`, `host:port`, `[::1]:port`, or a list of these. */
function isHostList(authority: string): boolean {
  return authority.split(",").every((host) => {
    const port = host.lastIndexOf("]") + 1;
    const colon = host.indexOf(":", port);
    return colon === -1 || !/[^\d:]/.test(host.slice(colon));
  });
}

/** Redacts a URL's fragment. Other texts keep `#`, as in `C#` or `issue #12`. */
function withoutFragment(text: string): string {
  const start = text.indexOf("#");
  if (start === -1 || start === text.length - 1) return text;
  const before = text.slice(0, start);
  const isAddress = before.includes("://") || before.includes("?") ||
    before.startsWith("/");
  return isAddress ? `${before}#${REDACTED}` : text;
}

/** The start of a pair, except the first. A value may contain `;`. */
const PAIR_START = /(?=[?&#]|;[\w.%[\]-]+=)/;

/** Redacts the values of secret parameters, and secrets in other values. */
export function redactPairs(text: string, redact: RedactDecoded): string {
  if (!text.includes("=") && !text.includes("%")) return text;
  return text.split(PAIR_START).map((pair) => {
    const start = /^[?&#;]/.test(pair) ? 1 : 0;
    const separator = pair.slice(0, start);
    const equals = pair.indexOf("=");
    if (equals === -1) {
      return separator + redactEncoded(pair.slice(start), redact);
    }
    const name = pair.slice(start, equals);
    const isSecret = separator === ""
      ? isSecretProperty(nameAtEnd(name))
      : isSecretParameter(decodeASCII(name));
    const value = pair.slice(equals + 1);
    const shown = isSecret && value !== ""
      ? REDACTED
      : redactEncoded(value, redact);
    return `${separator}${redactEncoded(name, redact)}=${shown}`;
  }).join("");
}

/** Redacts secrets in the percent-encoded part of a value or a path. */
function redactEncoded(text: string, redact: RedactDecoded): string {
  if (!text.includes("%")) return text;
  const decoded = decodeASCII(text);
  if (decoded === text) return text;
  const redacted = redact(decoded);
  return redacted === decoded
    ? text
    : redacted.replace(/[^\w.~:/@,!*'()%-]/g, encode);
}

/** Decodes ASCII only. It never throws, and finds all names and separators. */
function decodeASCII(text: string): string {
  return text.replace(
    /%[0-7][\da-f]/gi,
    (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
}

function encode(character: string): string {
  return character < "\x80" ? encodeURIComponent(character) : character;
}

/** Names of secrets in any place, in lower case without separators. */
const SECRET =
  /passw(?:or)?d|passphrase|passcode|^pwd|(?:db|smtp|mail|user)pass$|hmac|(?:pwd|hash|salt|tokens?|secrets?|totp|otp|magiclink|(?:api|private|secret|signing|access|account|encryption|master)keys?|(?:oob|verification|device|sms|recovery|backup)codes?|codeverifier)$|^(?:magic|pw)$/;

/** More names of secrets in a query or a header, in the same spelling. */
const SECRET_PARAMETER =
  /token(?:[^i]|i[^sz]|$)|secret|passw|accesskey|apikey|privatekey|signingkey|signature|credential|session|sessid|jwt|authori[sz]ation|cookie|assertion|bearer|csrf|xsrf|saml|totp|(?:oob|verification|device|sms|recovery|backup|access|auth|oauth|user|reset|confirmation|activation|otp|mfa|fa|onetime)code|^(?:code|state|access|refresh|cfaccessclientid|secwebsocketprotocol)$/;

/** Short words that count only as a whole word of a name. */
const SECRET_WORD =
  /(?:^|-)(?:auth|pass|pwd?|otp|pin|sid|sess|sig|key|dpop|ticket|principal|oidc|magic)(?:-|$)/;

/**
 * Whether a field's name marks a secret in any place, such as `passwordHash` or
 * `access_token`. Names that are secret only in a URL, such as `state`, don't
 * count.
 */
export function isSecretField(name: string): boolean {
  return SECRET.test(name.replace(/[^a-z\d]/gi, "").toLowerCase());
}

/** Global, because the dev command and the app may load copies of the package. */
const NAMES = Symbol.for("@quartet/kit/secret-parameters");
const holder = globalThis as { [NAMES]?: Set<string> };
const secretNames = holder[NAMES] ??= new Set();

/**
 * Notes that a query parameter or a header carries a secret, whatever its name
 * sounds like.
 */
export function noteSecretParameter(name: string): void {
  const encoded = encodeURIComponent(name.toWellFormed());
  const decoded = decodeASCII(encoded).replaceAll("+", " ");
  secretNames.add(decoded.toLowerCase());
}

/** Whether the name of a query parameter or of a header marks a secret. */
export function isSecretParameter(name: string): boolean {
  if (secretNames.size > 0) {
    // Forms write a space as `+`.
    const spaced = name.replaceAll("+", " ").toLowerCase();
    if (secretNames.has(spaced)) return true;
  }
  // Most names are one word in lower case.
  const words = /[^a-z]/.test(name) ? separated(name) : name;
  if (SECRET_WORD.test(words)) return true;
  const joined = words.replaceAll("-", "");
  return SECRET_PARAMETER.test(joined) || SECRET.test(joined);
}

/** Splits a name into lower-case words: `user[PinCode2]`, `user-pin-code-`. */
function separated(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, "$1-$2")
    .replace(/[^a-z]+/gi, "-").toLowerCase();
}

/** More names of secrets among fields and headers shown in a text. */
const SECRET_HEADER =
  /authori[sz]ation|cookie|secwebsocketprotocol|csrf|xsrf|jwt|sessionid|sessid|(?:amz|goog|access)signature$/;

/**
 * Whether a field or header shown in a text is secret. Unlike in a query,
 * `code` and `state` aren't: they explain errors, as in `code: "ENOENT"`.
 */
export function isSecretProperty(name: string): boolean {
  const joined = name.replace(/[^a-z\d]/gi, "").toLowerCase();
  return SECRET.test(joined) || SECRET_HEADER.test(joined) ||
    // In capitals, it's the name of a database or a user of Windows.
    /(?:^|[._-])sid$/.test(name);
}

/** Maximum characters of a name. */
const MAX_NAME = 64;

/** Returns the name at the end of a text, or the empty string. */
export function nameAtEnd(text: string): string {
  return text.slice(-MAX_NAME).split(/[^\w.-]/).at(-1)!;
}
