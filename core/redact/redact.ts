/**
 * Redacts secrets in text that is logged or recorded, and bounds its size. It
 * takes linear time; callers shorten long texts first.
 *
 * ```
 * redactText()
 *   ├─ redactCredentials() Bearer …, --password …, ghp_…, private keys
 *   ├─ redactFields()      password: "…", Cookie: …          redact_fields.ts
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
  /pass|pw|hmac|hash|salt|token|secret|otp|magic|key|code|authori|auth[\\"':]|cookie|protocol|csrf|xsrf|jwt|sess|sid\b|signature/i;

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
  /(?=[\w.~+/=-])(?<=\b(?:bearer|basic)[ ,:]+)[\w.~+/=-]+|(?<=\B--[\w-]{0,32}(?:password|token|secret|api-?key) ["']?)[^\s"'`-][^\s"'`]+|(?<=\b(?:password|identified by) ')[^\s']+|(?<=\bidentified by ")[^\s"]+/gi;

/**
 * The lines of a private key, which `inspect()` quotes one by one. An encrypted
 * key has two headers.
 */
const PRIVATE_KEY =
  /PRIVATE KEY-----(?:[\s\\nr"'`+]{1,24}(?:Proc-Type|DEK-Info): [\w,-]{1,64}){0,2}(?=[\s\\nr"'`+]{1,24}[\w+/=]{16})[\w+/=\s\\"'`]*/g;

/**
 * Tokens with the prefix of a service, such as GitHub, Slack or Stripe. Telegram
 * has them in paths.
 */
const TOKEN =
  /\b(?:gh[opsur]_|github_pat_|glpat-|xox[a-z]-|xapp-|[rs]k_(?:live|test)_|sk-(?:ant|proj|svcacct)-|sk-(?=\w{32})|npm_|AIza|dd[op]_|bot\d{5,16}:)(?=[\w-]{0,64}\d)[\w-]{20,}/g;

/**
 * A name and a password for `curl`, or a password for clients of MySQL and Redis.
 * Docker's `-p80:80` is a port.
 */
const CLIENT_PASSWORD =
  /(?<= (?:-u|--user)[ =]["']?)[^\s:"'`]+:[^\s"'`]+|(?<= -(?:p|a )["']?)(?!\d+:)[^\s"'`]+/g;

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
  const known = redactCredentials(text).replace(TOKEN, REDACTED);
  // Most texts have nothing to redact.
  const redacted = SUSPECT_NAME.test(known) ? redactFields(known) : known;
  return SUSPECT_RUN.test(redacted)
    ? redacted.replace(RUN, (run) => redactRun(run, depth))
    : redacted;
}

function redactCredentials(text: string): string {
  if (!/bearer|basic|-|(?:word|by) ["']/i.test(text)) return text;
  const redact = (word: string) => isCredential(word) ? REDACTED : word;
  const redacted = text.replace(PRIVATE_KEY, `PRIVATE KEY-----${REDACTED}`)
    .replace(CREDENTIAL, redact);
  return /\b(?:curl |mysql|mariadb|redis-cli )/.test(text)
    ? redacted.replace(CLIENT_PASSWORD, redact)
    : redacted;
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

/** Maximum characters of one text in a log or a trace. */
export const MAX_LOG_TEXT = 8192;

/**
 * Maximum characters to search for the end of a quote. A longer text is cut at
 * its first `"`.
 */
const MAX_SEARCH = 1024 * 1024;

const MARKER = " is not valid JSON";
const REPLACEMENT = "the text is not valid JSON";
const IDENTIFIER = 'JSON Parse error: Unexpected identifier "';

/**
 * A value that can't be a header's, as Deno, Node and Bun quote it. It reaches to
 * the last quotation mark.
 */
const HEADER_VALUE =
  /(Invalid header value: |Headers\.(?:append|set): |Header '[^']{0,64}' has invalid value: )(["'])(?:[^]*\2|[^]*)/;

/**
 * Makes an error's text safe to keep: shortens it, removes what a JSON parser
 * quotes of its input, and `Headers` of a value, and redacts the rest. Otherwise
 * a form sent to `request.json()` would appear in the log.
 *
 * ```
 * Unexpected token 'u', "user=ada&p"... is not valid JSON
 *                       └─ quote ──┘ └───── marker ─────┘    V8
 * JSON Parse error: Unexpected identifier "hunter2"          JavaScriptCore
 * ```
 *
 * The input is untrusted, and may contain quotation marks and markers. So a quote
 * reaches from the first `"` to the last marker.
 *
 * @param text Text of any length. Only a bounded part is searched.
 * @param maxLength Characters to keep, not counting the note about cut text.
 */
export function redactMessage(text: string, maxLength = MAX_LOG_TEXT): string {
  const short = withoutQuote(text, maxLength);
  return redactText(short.replace(HEADER_VALUE, `$1$2${REDACTED}$2`));
}

function withoutQuote(text: string, maxLength: number): string {
  const open = quoteStart(text.slice(0, maxLength));
  if (open === -1) return clip(text, maxLength);
  if (text.length > MAX_SEARCH) return clip(text, open);
  const end = quoteEnd(text, open);
  const rest = end === -1
    ? text
    : text.slice(0, open) + REPLACEMENT + text.slice(end);
  return clip(withoutIdentifiers(rest), maxLength);
}

/** Returns the start of the first quote, including the dots before it. */
function quoteStart(text: string): number {
  const mark = text.indexOf('"');
  return mark === -1 ? -1 : text.endsWith("...", mark) ? mark - 3 : mark;
}

/** Returns the end of the last marker that follows a quote. */
function quoteEnd(text: string, open: number): number {
  let at = text.length;
  while ((at = text.lastIndexOf(MARKER, at - 1)) > open) {
    const mark = text.endsWith("...", at) ? at - 4 : at - 1;
    if (mark > open && text[mark] === '"') return at + MARKER.length;
  }
  return -1;
}

/** Removes identifiers: a parser may take a password for one. */
function withoutIdentifiers(text: string): string {
  const [first, ...parts] = text.split(IDENTIFIER);
  return first + parts.map((part) => {
    const end = part.indexOf('"');
    return `${IDENTIFIER}…${end === -1 ? "" : part.slice(end)}`;
  }).join("");
}

/**
 * Shortens a text and notes how much is missing. The result doesn't keep the
 * original in memory. In V8, a plain `slice` does.
 *
 * @param text Text of any length.
 * @param maxLength Characters to keep, not counting the note.
 */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Not between the halves of a surrogate pair.
  const last = text.charCodeAt(maxLength - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? maxLength - 1 : maxLength;
  const note = `… (${text.length - maxLength} more characters)`;
  return JSON.parse(JSON.stringify(text.slice(0, end) + note));
}

/** A value above this size is large. Each character and each entry counts. */
const MAX_SIZE = 32_768;
/** Entries of an array, a map or a set that `inspect()` looks at. */
const MAX_ENTRIES = 100;
/** A value that is nested deeper is large. It bounds the recursion. */
const MAX_NESTING = 500;

/**
 * Whether `inspect()` would take long or return a long text. It writes an
 * error's whole message, every key of an object, and each shared object again.
 * The check calls no getters, except `name`, `message` and `stack` of an error.
 */
export function isLarge(value: unknown): boolean {
  /** The objects around the current one, which `inspect()` doesn't repeat. */
  const ancestors = new Set<object>();
  let size = 0;

  function fits(value: unknown): boolean {
    size += typeof value === "string" ? value.length : 1;
    if (size > MAX_SIZE) return false;
    if (typeof value !== "object" || value === null) return true;
    if (ancestors.has(value)) return true;
    if (ancestors.size === MAX_NESTING) return false;
    ancestors.add(value);
    for (const part of partsOf(value)) if (!fits(part)) return false;
    return ancestors.delete(value);
  }
  return !fits(value);
}

function* partsOf(value: object): Generator<unknown> {
  if (value instanceof Error) {
    yield value.name;
    yield value.message;
    yield value.stack;
  }
  if (ArrayBuffer.isView(value)) return;
  // Each character is its own key.
  if (value instanceof String) {
    return yield String.prototype.valueOf.call(value);
  }
  if (Array.isArray(value)) return yield* value.slice(0, MAX_ENTRIES);
  if (value instanceof Map || value instanceof Set) {
    let count = 0;
    for (const entry of value.entries()) {
      if (++count > MAX_ENTRIES) break;
      yield* entry;
    }
  }
  // These show their content without keys.
  if (
    value instanceof URLSearchParams || value instanceof FormData ||
    value instanceof Headers
  ) {
    for (const entry of value) yield* entry;
  }
  for (const key of Reflect.ownKeys(value)) {
    yield key;
    yield Object.getOwnPropertyDescriptor(value, key)?.value;
  }
}
