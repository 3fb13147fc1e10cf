import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import {
  aFunction,
  aNonEmptyString,
  required,
  rule,
} from "../../core/check/rules.ts";
import { noteSecretParameter } from "../../core/redact/redact_url.ts";
import type { AuthProvider } from "../provider.ts";
import type { BaseUser, User } from "../user.ts";

/** A token (RFC 9110, section 5.6.2). */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
/** Headers that carry sessions. */
const TAKEN = new Set(["authorization", "cookie"]);
/** Visible ASCII without the comma, which joins two headers (RFC 9110, 5.3). */
const KEY = /^[\x21-\x2b\x2d-\x7e]{1,4096}$/;

/** The options of {@linkcode apiKey}. */
export interface ApiKeyOptions<
  U extends BaseUser = User,
  Id extends string = string,
> {
  /** The provider's id. Default: `apiKey`. */
  readonly id?: Id;
  /** The provider's name for people. Default: `API key`. */
  readonly name?: string;
  /**
   * Finds the user by the key; `null` if there is none. Store the SHA-256 of
   * keys instead of the keys, and look a key up by it. Then no key is compared
   * character by character.
   */
  readonly validate: (apiKey: string) => U | null | Promise<U | null>;
  /** The header with the key. Default: `x-api-key`. */
  readonly header?: string;
  /**
   * The query parameter with the key, for clients that can't set headers.
   * Default: none, because addresses get into logs and histories.
   */
  readonly queryParam?: string;
}

const OPTIONS: OptionRules<ApiKeyOptions> = {
  id: aNonEmptyString,
  name: aNonEmptyString,
  validate: required(aFunction),
  header: rule(
    "the name of a header other than Authorization and Cookie",
    (name) =>
      typeof name === "string" && HEADER_NAME.test(name) &&
      !TAKEN.has(name.toLowerCase()),
  ),
  queryParam: aNonEmptyString,
};

/**
 * Creates a provider that authenticates programs by a key. Only the request that
 * carries the key is authenticated, without a cookie.
 *
 * A key is 1 to 4,096 characters of visible ASCII without comma. A request with
 * an empty key, or with two that differ, is anonymous. `signIn()` takes the key
 * as `{ apiKey }`.
 *
 * @param options The place of the key, and the function that finds its user.
 * @throws {TypeError} If an option is wrong.
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
  options: ApiKeyOptions<U> & { readonly id?: undefined },
): AuthProvider<U, "apiKey">;
/** The same with an `id`. */
export function apiKey<
  U extends BaseUser = User,
  const Id extends string = string,
>(options: ApiKeyOptions<U, Id>): AuthProvider<U, Id>;
export function apiKey<U extends BaseUser>(
  options: ApiKeyOptions<U>,
): AuthProvider<U> {
  checkOptions(options, OPTIONS, "create API-key provider");
  const { id = "apiKey", name = "API key", header = "x-api-key" } = options;
  const { validate, queryParam } = options;
  noteSecretParameter(header);
  if (queryParam !== undefined) noteSecretParameter(queryParam);

  async function find(key: unknown): Promise<U | null> {
    if (typeof key !== "string" || !KEY.test(key)) return null;
    return await validate(key) ?? null;
  }

  function queryKeys({ url }: Request): string[] {
    if (queryParam === undefined) return [];
    // Keys in base64 have a `+`, which isn't an encoded space here. A wrong escape
    // becomes U+FFFD, which no key has.
    const query = new URL(url).search.replaceAll("+", "%2B")
      .replaceAll(/%(?![\da-f]{2})/gi, "%FF");
    return new URLSearchParams(query).getAll(queryParam);
  }

  return {
    id,
    name,
    type: "credentials",
    authorize: ({ apiKey }) => find(apiKey),
    // A link or form of another site can contain a key in its URL.
    isSentByBrowsers: (request) => queryKeys(request).length > 0,
    authenticate(request) {
      const keys = queryKeys(request);
      const inHeader = request.headers.get(header);
      if (inHeader !== null) keys.push(inHeader);
      if (keys.length === 0) return undefined;
      const [key, ...others] = keys;
      return find(others.every((other) => other === key) ? key : undefined);
    },
  };
}
