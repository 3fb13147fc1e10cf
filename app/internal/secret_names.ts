/**
 * Names that sound like those of secrets. There is one list for all modules:
 * what a session must not keep, a trace and a log must not show either.
 *
 * @module
 */

/** Names of secrets wherever they stand, in lower case without separators. */
const SECRET =
  /passw(?:or)?d|passphrase|passcode|^pwd|hmac|(?:pwd|hash|salt|tokens?|secrets?|totp|otp|magiclink|(?:api|private|secret|signing|access|account|encryption|master)keys?|(?:oob|verification|device|sms|recovery|backup)codes?)$|^magic$/;

/** What else is secret in a query or a header, in the same spelling. */
const SECRET_PARAMETER =
  /token(?:[^i]|i[^sz]|$)|secret|passw|accesskey|apikey|privatekey|signingkey|signature|credential|session|sessid|jwt|authori[sz]ation|cookie|assertion|bearer|csrf|xsrf|saml|totp|(?:oob|verification|device|sms|recovery|backup|auth|oauth|user|reset|confirmation|activation|otp|mfa|fa|onetime)code|^(?:code|state|access|refresh|cfaccessclientid|secwebsocketprotocol)$/;

/** Short words, which count only where a name has them between separators. */
const SECRET_WORD =
  /(?:^|-)(?:auth|pass|pwd|otp|pin|sid|sess|sig|key|dpop|ticket|principal|oidc|magic)(?:-|$)/;

/**
 * Whether a field's name sounds secret in any place: `passwordHash`,
 * `access_token`. Fields that merely may be secret in a URL, such as `state`,
 * don't.
 */
export function isSecretField(name: string): boolean {
  return SECRET.test(name.replace(/[^a-z\d]/gi, "").toLowerCase());
}

/** Whether the name of a query parameter or of a header sounds secret. */
export function isSecretParameter(name: string): boolean {
  // Most names are one word in lower case.
  const words = /[^a-z]/.test(name) ? separated(name) : name;
  if (SECRET_WORD.test(words)) return true;
  const joined = words.replaceAll("-", "");
  return SECRET_PARAMETER.test(joined) || SECRET.test(joined);
}

/** The words of a name in lower case: `user[PinCode2]` is `user-pin-code-`. */
function separated(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, "$1-$2")
    .replace(/[^a-z]+/gi, "-").toLowerCase();
}

/** What else is secret among the fields and headers that a text shows. */
const SECRET_HEADER =
  /authori[sz]ation|cookie|secwebsocketprotocol|csrf|xsrf|jwt|sessionid|sessid/;

/**
 * Whether a field or header that a text shows sounds secret. Unlike in a query,
 * `code` and `state` tell what went wrong there: `code: "ENOENT"`.
 */
export function isSecretProperty(name: string): boolean {
  const joined = name.replace(/[^a-z\d]/gi, "").toLowerCase();
  return SECRET.test(joined) || SECRET_HEADER.test(joined);
}
