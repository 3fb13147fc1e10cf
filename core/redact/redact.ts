/**
 * Redacts secrets in text that is logged or recorded. It takes linear time;
 * callers shorten long texts first.
 *
 * ```
 * redactText()
 *   ├─ redactFields()      password: "…", Cookie: …          redact_fields.ts
 *   ├─ redactCredentials() Bearer …, --password …
 *   └─ each run of text without white space
 *        ├─ redactURL()    ada:pw@host/?token=…&next=…#…     redact_url.ts
 *        │    └─ decoded values: from the top, at most five levels deep
 *        └─ redactJWT()    eyJ….….…
 * ```
 *
 * This is a second line of defence. A secret under a harmless name isn't found.
 *
 * @module
 */

import { redactFields } from "./redact_fields.ts";
import { REDACTED, redactPairs, redactURL } from "./redact_url.ts";

/** Maximum nesting of URLs. A deeper one is redacted as a whole. */
const MAX_DEPTH = 5;

/** Every name of a secret field or header contains one of these. */
const SUSPECT_NAME =
  /pass|pw|hmac|hash|salt|token|secret|otp|magic|key|code|authori|cookie|protocol|csrf|xsrf|jwt|sess/i;

/** Every URL and every JSON Web Token contains one of these. */
const SUSPECT_RUN = /[=@#%]|eyJ|:\/\/[^/]/;

/** Text without white space and quotation marks, such as a URL. */
const RUN = /'[^\s"'`<>]+'|[^\s"`<>]+/g;

/**
 * A credential after an HTTP authentication scheme, as in `Bearer abc` and
 * `bearer, abc`, after an option, as in `--password abc`, or in SQL, as in
 * `IDENTIFIED BY 'abc'`.
 */
const CREDENTIAL =
  /(?=[\w.~+/=-])(?<=\b(?:bearer|basic)[ ,:]+)[\w.~+/=-]+|(?<=\B--[\w-]{0,32}(?:password|token|secret|api-?key) ["']?)[^\s"'`-][^\s"'`]+|(?<=\b(?:password|identified by) ')[^\s']+/gi;

/** A name and a password for `curl`. */
const CURL_USER = /(?<= (?:-u|--user)[ =]["']?)[^\s:"'`]+:[^\s"'`]+/g;

/**
 * Redacts a text.
 *
 * ```ts ignore
 * redactText("Cannot open postgres://ada:pw@db/app");
 * // "Cannot open postgres://REDACTED:REDACTED@db/app"
 * ```
 */
export function redactText(text: string): string {
  return redactDecoded(text, 0);
}

/** Redacts a URL's query, given without its `?`. */
export function redactQuery(query: string): string {
  const redact = (text: string) => redactDecoded(text, 1);
  return redactPairs(`?${query}`, redact).slice(1);
}

/** Redacts a text that was percent-decoded `depth` times. */
function redactDecoded(text: string, depth: number): string {
  if (depth > MAX_DEPTH) return REDACTED;
  // Most texts have nothing to redact.
  const fields = SUSPECT_NAME.test(text) ? redactFields(text) : text;
  const redacted = redactCredentials(fields);
  return SUSPECT_RUN.test(redacted)
    ? redacted.replace(RUN, (run) => redactRun(run, depth))
    : redacted;
}

function redactCredentials(text: string): string {
  if (!/bearer|basic|-|(?:word|by) '/i.test(text)) return text;
  const redact = (word: string) => isCredential(word) ? REDACTED : word;
  const redacted = text.replace(CREDENTIAL, redact);
  return /\bcurl /.test(text) ? redacted.replace(CURL_USER, redact) : redacted;
}

/** Whether a text is a credential, unlike a word as in `basic authentication`. */
function isCredential(text: string): boolean {
  return text.length >= 20 || (text.length > 5 && /[^a-z.]/i.test(text));
}

function redactRun(run: string, depth: number): string {
  if (!SUSPECT_RUN.test(run)) return run;
  const redacted = redactURL(run, (text) => redactDecoded(text, depth + 1));
  return redacted.includes("eyJ")
    ? redacted.replace(/[\w.-]+/g, redactJWT)
    : redacted;
}

/** Redacts a JSON Web Token: its header is JSON in base64url. */
function redactJWT(text: string): string {
  const parts = text.split(".");
  const first = parts.findIndex((part, index) =>
    index < parts.length - 1 && part.length >= 15 &&
    /(?:^|[^a-zA-Z])eyJ/.test(part)
  );
  if (first === -1) return text;
  const rest = parts.slice(first + 3);
  return [...parts.slice(0, first), REDACTED, ...rest].join(".");
}
