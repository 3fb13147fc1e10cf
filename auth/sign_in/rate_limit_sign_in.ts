import { checkOptions } from "../../core/check/check_options.ts";
import type { OptionRules } from "../../core/check/check_options.ts";
import { show } from "../../core/check/show.ts";
import { FixedWindowCounter } from "../../core/collections/fixed_window_counter.ts";
import type { Window } from "../../core/collections/fixed_window_counter.ts";
import { keyPart } from "../key_part.ts";
import type { SignInAttempt, SignInLimiter } from "../options.ts";
import { accountName } from "./account_name.ts";
import { networkOfAddress } from "./network_of_address.ts";

/** How many failures, of whom. */
export interface RateLimitSignInOptions {
  /**
   * How many failures an account may have from one address in a window. Success
   * clears them. Default 10.
   */
  readonly perAccountAndAddress?: number;
  /**
   * How many failures an account may have in a window from all addresses
   * together. Those from which somebody has signed in to it in the last 30 days
   * don't count and are not limited by it. Default 100, the most that NIST SP
   * 800-63B (section 3.2.2) lets anybody try in a row.
   */
  readonly perAccount?: number;
  /**
   * How many failures an address may have in a window, with all accounts
   * together. Success doesn't clear them. Default 100.
   */
  readonly perAddress?: number;
  /**
   * The maximum of pending sign-ins per address. Further ones are refused, and
   * don't count as failures. So a flood from one address keeps few others
   * waiting. Default: 20.
   */
  readonly maxPendingPerAddress?: number;
  /** How long a window lasts from its first attempt on, in ms. Default 15 minutes. */
  readonly windowMs?: number;
  /**
   * Names the account that credentials are for; `undefined` if they are for none.
   * Names that a database may treat as equal share one count. They may differ in
   * case, accents, marks, white space, control and invisible characters, or
   * Unicode compatibility forms.
   *
   * Default: what stands in `email`, `username`, `userName`, `user`, `login`,
   * `name`, `identifier`, `account`, `phone` and `id`, each being an account: a
   * field that the provider doesn't look at is not a way around the limit, and
   * neither are numbers and arrays, which count as their text. But if there are
   * several accounts, success clears nothing.
   */
  readonly account?: (
    credentials: Readonly<Record<string, unknown>>,
  ) => string | undefined;
  /**
   * How many accounts, addresses and pairs of them are remembered, each. The
   * longest unused give way. Default 100,000.
   */
  readonly maxKeys?: number;
  /** Where the time is read, in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<RateLimitSignInOptions> = {
  perAccountAndAddress: true,
  perAccount: true,
  perAddress: true,
  maxPendingPerAddress: true,
  windowMs: true,
  account: true,
  maxKeys: true,
  now: true,
};

const MINUTE = 60_000;
/** How long an address counts as one that its account signs in from. */
const FAMILIAR_MS = 30 * 24 * 60 * MINUTE;

/** What an attempt counts for, and how often it may. */
interface Counted {
  readonly table: FixedWindowCounter;
  readonly name: string;
  readonly limit: number;
}

/** Where credentials commonly have the name of an account. */
const FIELDS = [
  "email",
  "username",
  "userName",
  "user",
  "login",
  "name",
  "identifier",
  "account",
  "phone",
  "id",
];
/**
 * Makes a limiter for the setting `signInLimiter`: too many failures, and
 * attempts are refused with `RATE_LIMITED`, status 429 and `Retry-After`, without
 * asking the provider.
 *
 * An attempt counts from its beginning and is taken back if it succeeds: a
 * thousand guesses at once are no way around the limits. What the provider throws
 * counts as a failure. Few attempts of an address are pending at once, so that a
 * flood from there doesn't keep others from signing in.
 *
 * It protects from guessing the password of one account, from one address or from
 * many, and from trying one password on all accounts from one address. Nobody can
 * lock an account's owner out for long: failures at another address refuse the
 * owner only if the account has very many of them, and not at an address from
 * which they have signed in before, as far as this process remembers.
 *
 * It does not protect from many addresses that try few passwords on each of many
 * accounts, nor does it refuse passwords that everybody uses. It counts in the
 * memory of this process. Of IPv6, a network of 64 bits is one address. Where the
 * host doesn't tell addresses, all are one: then the limit of an account and an
 * address is the only one, and anybody can use it up. Behind a proxy, see that
 * the address is the client's and not the proxy's.
 *
 * @param options How many failures, of whom.
 * @throws {TypeError} If a number is not positive, or an option is unknown.
 *
 * @example
 * ```ts
 * import {
 *   createAuthPlugin,
 *   credentials,
 *   rateLimitSignIn,
 * } from "@quartet/kit/auth";
 *
 * const limiter = rateLimitSignIn({ perAccountAndAddress: 1 });
 * const auth = createAuthPlugin({
 *   session: { secret: "a secret of at least thirty-two bytes" },
 *   providers: [credentials({ authorize: () => Promise.resolve(null) })],
 *   signInLimiter: limiter,
 * });
 * console.assert(auth.name === "auth");
 *
 * const guess = {
 *   provider: "credentials",
 *   credentials: { email: "ada@example.com", password: "1234" },
 *   address: "192.0.2.1",
 * };
 * console.assert(limiter.check(guess) === undefined);
 * console.assert(limiter.check(guess) === 15 * 60);
 * ```
 */
export function rateLimitSignIn(
  options: RateLimitSignInOptions = {},
): SignInLimiter {
  checkOptions(options, OPTIONS, "create sign-in limiter");
  const {
    perAccountAndAddress = 10,
    perAccount = 100,
    perAddress = 100,
    maxPendingPerAddress = 20,
    windowMs = 15 * MINUTE,
    maxKeys = 100_000,
    account,
    now = () => performance.now(),
  } = options;
  const limits = {
    perAccountAndAddress,
    perAccount,
    perAddress,
    maxPendingPerAddress,
    windowMs,
    maxKeys,
  };
  for (const [name, value] of Object.entries(limits)) {
    if (value > 0 && Number.isFinite(value)) continue;
    throw new TypeError(
      `Cannot create sign-in limiter: ${name} must be a positive number, received ${
        show(value)
      }`,
    );
  }
  const pairs = new FixedWindowCounter({ windowMs, maxKeys, now });
  const accounts = new FixedWindowCounter({ windowMs, maxKeys, now });
  const addresses = new FixedWindowCounter({ windowMs, maxKeys, now });
  const familiar = new FixedWindowCounter({
    windowMs: FAMILIAR_MS,
    maxKeys,
    now,
  });
  /** Where an attempt is counted: windows that begin later don't hold it. */
  const windowsOf = new WeakMap<SignInAttempt, readonly Window[]>();
  const accountsOf = account === undefined
    ? commonAccounts
    : (credentials: Readonly<Record<string, unknown>>) => {
      const name = account(credentials);
      return name === undefined ? [] : [accountName(name)];
    };

  /** The accounts that an attempt counts for, alone and from there. */
  function namesOf(
    { provider, credentials }: SignInAttempt,
    network: string | undefined,
  ) {
    return accountsOf(credentials).map((name) => {
      const account = `${provider}\n${keyPart(name)}`;
      return { account, pair: `${account}\n${network ?? ""}` };
    });
  }

  /**
   * In how many seconds those are free again of which one is used up. Of what is
   * refused nothing is remembered: nobody makes it forget others that way. But
   * what has refused stays in memory, however many others are counted.
   */
  function secondsLeft(
    counted: readonly Counted[],
    time: number,
  ): number | undefined {
    const reached = counted.filter(({ table, name, limit }) =>
      (table.peek(name, time)?.count ?? 0) >= limit
    );
    if (reached.length === 0) return undefined;
    const ends = reached.map(({ table, name }) => table.open(name, time).end);
    return Math.max(1, Math.ceil((Math.max(...ends) - time) / 1_000));
  }

  return {
    maxPendingPerAddress,
    check(attempt) {
      const time = pairs.time();
      const network = networkOfAddress(attempt.address);
      const counted: Counted[] = [];
      if (network !== undefined) {
        counted.push({ table: addresses, name: network, limit: perAddress });
        // Without a look at the names, which take the longest.
        const seconds = secondsLeft(counted, time);
        if (seconds !== undefined) return seconds;
      }
      for (const { account, pair } of namesOf(attempt, network)) {
        counted.push({ table: pairs, name: pair, limit: perAccountAndAddress });
        if (familiar.peek(pair, time) !== undefined) continue;
        counted.push({ table: accounts, name: account, limit: perAccount });
      }
      const seconds = secondsLeft(counted, time);
      if (seconds !== undefined) return seconds;
      const windows = counted.map(({ table, name }) => table.open(name, time));
      for (const window of windows) window.count++;
      windowsOf.set(attempt, windows);
      return undefined;
    },

    succeeded(attempt) {
      const time = pairs.time();
      const network = networkOfAddress(attempt.address);
      for (const window of windowsOf.get(attempt) ?? []) {
        if (window.count > 0) window.count--;
      }
      windowsOf.delete(attempt);
      // Of several names one may be somebody else's, put there to be cleared.
      const [name, ...others] = namesOf(attempt, network);
      if (name === undefined || others.length > 0) return;
      const window = pairs.find(name.pair, time);
      if (window !== undefined) window.count = 0;
      if (network !== undefined) familiar.open(name.pair, time);
    },
  };
}

function commonAccounts(
  credentials: Readonly<Record<string, unknown>>,
): string[] {
  const names = new Set<string>();
  for (const field of FIELDS) {
    const name = nameIn(credentials[field]);
    if (name !== "") names.add(accountName(name));
  }
  return [...names];
}

/**
 * The name that a field has, also to a provider that makes a string of what it
 * gets: `["ada"]` is Ada then. An object never is, and no account is a boolean.
 */
function nameIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return `${value}`;
  if (!Array.isArray(value)) return "";
  // To join nested arrays can take long; whoever sends some is one account.
  return value.some(isNested) ? "[]" : value.join();
}

function isNested(value: unknown): boolean {
  return Object(value) === value || typeof value === "symbol";
}
