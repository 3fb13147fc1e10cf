/**
 * Recognizes names of secrets. Sessions, traces and logs share this list, so a
 * secret that a session must not store isn't shown elsewhere.
 *
 * @module
 */

/** Names of secrets in any place, in lower case without separators. */
const SECRET =
  /passw(?:or)?d|passphrase|passcode|^pwd|(?:db|smtp|mail|user)pass$|hmac|(?:pwd|hash|salt|tokens?|secrets?|totp|otp|magiclink|(?:api|private|secret|signing|access|account|encryption|master)keys?|(?:oob|verification|device|sms|recovery|backup)codes?)$|^(?:magic|pw)$/;

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

/** Whether the name of a query parameter or of a header marks a secret. */
export function isSecretParameter(name: string): boolean {
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
