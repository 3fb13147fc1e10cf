import type { OptionRules } from "../../core/check/check_options.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";
import { checkName, checkNames, createCheck, isText } from "./check.ts";

/** A token as in RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
/** Headers that carry sessions, and are read as such. */
const TAKEN = new Set(["authorization", "cookie"]);
/**
 * Visible ASCII but the comma, by which a header that was sent twice is joined
 * (RFC 9110, section 5.3).
 */
const KEY = /^[\x21-\x2b\x2d-\x7e]{1,4096}$/;

/** The options of {@linkcode apiKey}. */
export interface ApiKeyOptions<U extends BaseUser = User> {
  /** Names the provider. Default `apiKey`. */
  readonly id?: string;
  /** A name for people to read. Default `API key`. */
  readonly name?: string;
  /**
   * Finds the user by the key; `null` if there is none. Keep digests of keys,
   * not the keys, and look a key up by its SHA-256: then nothing is compared
   * character by character.
   */
  readonly validate: (apiKey: string) => U | null | Promise<U | null>;
  /** The header with the key. Default `x-api-key`. */
  readonly header?: string;
  /**
   * The query parameter with the key, for clients that can't set headers.
   * Default: none, because addresses get into logs and histories.
   */
  readonly queryParam?: string;
}

const OPTIONS: OptionRules<ApiKeyOptions> = {
  id: true,
  name: true,
  validate: true,
  header: true,
  queryParam: true,
};

/**
 * Makes a provider that authenticates programs by a key. A request that carries
 * one is authenticated for itself alone, without a cookie.
 *
 * A key is 1 to 4,096 characters of visible ASCII without comma. A request with
 * an empty key, or with two that differ, is anonymous. `signIn()` takes the key
 * as `{ apiKey }`.
 *
 * @param options Whose key it is, and where it is.
 * @throws {AuthError} `CONFIG` if an option is wrong.
 *
 * @example
 * ```ts
 * import { apiKey } from "@quartet/kit/auth";
 *
 * const users = new Map([["k-815", { id: "7", name: "Nightly job" }]]);
 * const provider = apiKey({ validate: (key) => users.get(key) ?? null });
 *
 * const request = new Request("http://localhost/report", {
 *   headers: { "x-api-key": "k-815" },
 * });
 * const user = await provider.authenticate!(request);
 * console.assert(user?.name === "Nightly job");
 * ```
 */
export function apiKey<U extends BaseUser = User>(
  options: ApiKeyOptions<U>,
): AuthProvider<U> {
  checkNames("API-key", options, OPTIONS);
  const { id = "apiKey", name = "API key", validate } = options;
  const { header = "x-api-key", queryParam } = options;
  const check = createCheck("API-key");
  checkName(check, "id", id);
  checkName(check, "name", name);
  check(typeof validate === "function", "validate", "a function", validate);
  check(
    typeof header === "string" && HEADER_NAME.test(header) &&
      !TAKEN.has(header.toLowerCase()),
    "header",
    "the name of a header other than Authorization and Cookie",
    header,
  );
  check(
    queryParam === undefined || isText(queryParam),
    "queryParam",
    "a non-empty string",
    queryParam,
  );

  async function find(key: unknown): Promise<U | null> {
    if (typeof key !== "string" || !KEY.test(key)) return null;
    return await validate(key) ?? null;
  }

  const queryKeys = (url: string) =>
    queryParam === undefined ? [] : queryValues(url, queryParam);

  return {
    id,
    name,
    type: "credentials",
    authorize: ({ apiKey }) => find(apiKey),
    // A link or form of another site can contain a key in its URL.
    isSentByBrowsers: ({ url }) => queryKeys(url).length > 0,
    authenticate(request) {
      const keys = queryKeys(request.url);
      const inHeader = request.headers.get(header);
      if (inHeader !== null) keys.push(inHeader);
      if (keys.length === 0) return undefined;
      const [key, ...others] = keys;
      return find(others.every((other) => other === key) ? key : undefined);
    },
  };
}

/**
 * The values of a parameter. `URLSearchParams` would make a blank of the `+`
 * that keys in base64 have, and U+FFFD of what is no UTF-8.
 */
function queryValues(url: string, name: string): (string | undefined)[] {
  const [address = ""] = url.split("#", 1);
  const start = address.indexOf("?");
  if (start === -1) return [];
  const query = address.slice(start + 1);
  const values: (string | undefined)[] = [];
  for (const pair of query.split("&")) {
    const [first = "", ...rest] = pair.split("=");
    if (decode(first) === name) values.push(decode(rest.join("=")));
  }
  return values;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
