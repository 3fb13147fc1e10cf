/**
 * Takes secrets out of text that is logged or recorded: those in addresses, in
 * fields and headers that a text shows, and tokens that stand alone. The text
 * should have been cut before; the time it takes grows with its length alone.
 *
 * This is a net below the code that writes such texts. A secret under a harmless
 * name is not found.
 *
 * @module
 */

import { redactFields } from "./redact_fields.ts";
import {
  REDACTED,
  redactQuery as redactQueryWith,
  redactURL,
} from "./redact_url.ts";

/** A part of each name that a secret field or header may have. */
const SUSPECT_NAME =
  /pass|pwd|hmac|hash|salt|token|secret|otp|magic|key|code|authori|cookie|protocol|csrf|xsrf|jwt|sess/i;

/** One of these is in every address, and in every JSON Web Token. */
const SUSPECT_RUN = /[=@#%]|eyJ|:\/\/[^/]/;

/** Text without white space and quotation marks; addresses have none of them. */
const RUN = /'[^\s"'`<>]+'|[^\s"`<>]+/g;

/** HTTP authentication schemes that send a secret. */
const SCHEME = /\b(?:bearer|basic)[ ,:]/gi;

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

/** Redacts the query of an address, without the `?` before it. */
export function redactQuery(query: string): string {
  return redactQueryWith(query, redactDecoded);
}

/** Most texts have nothing to redact, so what may be there is looked for first. */
function redactDecoded(text: string, depth: number): string {
  let told = text;
  if (SUSPECT_NAME.test(told)) told = redactFields(told);
  told = withoutCredentials(told);
  return SUSPECT_RUN.test(told)
    ? told.replace(RUN, (run) => redactRun(run, depth))
    : told;
}

/** Takes out what follows a scheme: `Bearer abc`, `bearer, abc`. */
function withoutCredentials(text: string): string {
  if (!/bearer|basic/i.test(text)) return text;
  let result = "";
  let rest = 0;
  for (const { 0: { length }, index } of text.matchAll(SCHEME)) {
    let start = index + length;
    while (" ,:".includes(text[start] ?? "-")) start++;
    let end = start;
    while (/[\w.~+/=-]/.test(text[end] ?? " ")) end++;
    if (start < rest || !isCredential(text.slice(start, end))) continue;
    result += text.slice(rest, start) + REDACTED;
    rest = end;
  }
  return result + text.slice(rest);
}

/** Words follow a scheme as well: `basic authentication`. */
function isCredential(text: string): boolean {
  return text.length >= 20 || (text.length > 5 && /[^a-z.]/i.test(text));
}

function redactRun(run: string, depth: number): string {
  if (!SUSPECT_RUN.test(run)) return run;
  const told = redactURL(run, redactDecoded, depth);
  return told.includes("eyJ") ? told.replace(/[\w.-]+/g, withoutJWT) : told;
}

/** Takes out what begins with the JSON of a token's header, in base64url. */
function withoutJWT(text: string): string {
  const parts = text.split(".");
  const first = parts.findIndex((part, index) =>
    index < parts.length - 1 && part.length >= 15 &&
    /(?:^|[^a-zA-Z])eyJ/.test(part)
  );
  if (first === -1) return text;
  const rest = parts.slice(first + 3);
  return [...parts.slice(0, first), REDACTED, ...rest].join(".");
}
