/**
 * Limits failed sign-ins. Each attempt counts against up to three limits, each
 * with a fixed-window counter for every key:
 *
 * ```
 *               key                   limit                  skipped
 * attempt ─┬──► address               perAddress             if it is unknown
 *          ├──► account and address   perAccountAndAddress   —
 *          └──► account               perAccount             at familiar addresses
 * ```
 *
 * An attempt counts from its beginning, so that parallel guesses don't pass.
 * Success takes it back, clears the failures of its account and address, and
 * makes the address familiar to the account for 30 days.
 *
 * @module
 */

import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import { aFunction, aPositiveNumber } from "../../core/check/rules.ts";
import {
  FixedWindowCounter,
  type Window,
} from "../../core/collections/fixed_window_counter.ts";
import { GenerationMap } from "../../core/collections/generation_map.ts";
import { keyPart } from "../key_part.ts";
import type { SignInAttempt, SignInLimiter } from "../options.ts";
import { accountName, accountsOf } from "./accounts_of.ts";
import { networkOfAddress } from "./client_network.ts";

/** The options of {@linkcode rateLimitSignIn}. */
export interface RateLimitSignInOptions {
  /**
   * Maximum failures of an account from one address in a window. Success clears
   * them. Default: 10.
   */
  readonly perAccountAndAddress?: number;
  /**
   * Maximum failures of an account in a window, from all addresses together.
   * Addresses with a successful sign-in to it in the last 30 days don't count,
   * and aren't limited by it. Default: 100, the most attempts in a row that NIST
   * SP 800-63B (section 3.2.2) allows.
   */
  readonly perAccount?: number;
  /**
   * Maximum failures of an address in a window, with all accounts together.
   * Success doesn't clear them. Default: 100.
   */
  readonly perAddress?: number;
  /**
   * Maximum pending sign-ins of an address. Further ones are refused, and don't
   * count as failures. So a flood from one address doesn't delay others.
   * Default: 20.
   */
  readonly maxPendingPerAddress?: number;
  /** The length of a window from its first attempt on. Default: 15 minutes. */
  readonly windowMs?: number;
  /**
   * Returns the account that credentials are for; `undefined` if there is none.
   * Names that a database may treat as equal share one count. They may differ in
   * case, accents, marks, white space, control and invisible characters, or
   * Unicode compatibility forms.
   *
   * Default: the values of `email`, `username`, `userName`, `user`, `login`,
   * `name`, `identifier`, `account`, `phone` and `id`. Each value is an account,
   * so a field that the provider ignores doesn't evade the limit. Numbers and
   * arrays count as their text. If there are several accounts, success clears
   * nothing.
   */
  readonly account?: (
    credentials: Readonly<Record<string, unknown>>,
  ) => string | undefined;
  /**
   * Maximum accounts, addresses, and pairs of them that are remembered, each.
   * The least recently used are forgotten first. Default: 100,000.
   */
  readonly maxKeys?: number;
  /** Returns the time in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<RateLimitSignInOptions> = {
  perAccountAndAddress: aPositiveNumber,
  perAccount: aPositiveNumber,
  perAddress: aPositiveNumber,
  maxPendingPerAddress: aPositiveNumber,
  windowMs: aPositiveNumber,
  account: aFunction,
  maxKeys: aPositiveNumber,
  now: aFunction,
};

const MINUTE = 60_000;
/** How long an address stays familiar to an account after a sign-in. */
const FAMILIAR_MS = 30 * 24 * 60 * MINUTE;

/** A key of an attempt, and how many failures it may have in a window. */
interface Limit {
  readonly counter: FixedWindowCounter;
  readonly key: string;
  readonly max: number;
}

/** An attempt that was counted. */
interface Counted {
  /** The windows that it was counted in. Later windows of the keys differ. */
  readonly windows: readonly Window[];
  /** The key of its account and address, if it names exactly one account. */
  readonly pair: string | undefined;
}

/**
 * Creates a limiter for the setting `signInLimiter`. After too many failures,
 * attempts are refused with `RATE_LIMITED` (status 429 with `Retry-After`), and
 * the provider isn't asked. An error that the provider throws is a failure.
 *
 * It protects from guessing the password of one account, from one address or
 * many, and from trying one password on all accounts from one address. Attackers
 * can't lock out an account's owner for long. Failures at other addresses refuse
 * the owner only if the account has very many of them. Even then, an address
 * with an earlier sign-in is exempt, as far as this process remembers.
 *
 * It doesn't protect from many addresses that try few passwords on each of many
 * accounts, nor does it refuse common passwords. It counts in the memory of this
 * process. An IPv6 network of 64 bits is one address. If the host doesn't know
 * addresses, all clients share one, and anybody can use up an account's limit.
 * Behind a proxy, make sure that the address is the client's.
 *
 * @param options The limits.
 * @throws {TypeError} If an option is wrong or unknown.
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
  const newCounter = () => new FixedWindowCounter({ windowMs, maxKeys, now });
  const addresses = newCounter();
  const pairs = newCounter();
  const accounts = newCounter();
  /** When an address stops being familiar to an account. */
  const familiarUntil = new GenerationMap<string, number>({ maxSize: maxKeys });
  const counted = new WeakMap<SignInAttempt, Counted>();

  const namesOf = account === undefined
    ? accountsOf
    : (credentials: SignInAttempt["credentials"]) => {
      const name = account(credentials);
      return name === undefined ? [] : [accountName(name)];
    };

  return {
    maxPendingPerAddress,
    check(attempt) {
      const time = accounts.time();
      const network = networkOfAddress(attempt.address);
      const limits: Limit[] = [];
      if (network !== undefined) {
        limits.push({ counter: addresses, key: network, max: perAddress });
        // Before the names are read, which takes longest.
        const seconds = secondsLeft(limits, time);
        if (seconds !== undefined) return seconds;
      }
      const pairKeys: string[] = [];
      for (const name of namesOf(attempt.credentials)) {
        const key = `${attempt.provider}\n${keyPart(name)}`;
        const pair = `${key}\n${network ?? ""}`;
        pairKeys.push(pair);
        limits.push({ counter: pairs, key: pair, max: perAccountAndAddress });
        const isFamiliar = time < (familiarUntil.peek(pair) ?? 0);
        if (!isFamiliar) {
          limits.push({ counter: accounts, key, max: perAccount });
        }
      }
      const seconds = secondsLeft(limits, time);
      if (seconds !== undefined) return seconds;
      const windows = limits.map(({ counter, key }) => counter.open(key, time));
      for (const window of windows) window.count++;
      // With several names, one may be somebody else's, sent to clear it.
      const pair = pairKeys.length === 1 ? pairKeys[0] : undefined;
      counted.set(attempt, { windows, pair });
      return undefined;
    },

    succeeded(attempt) {
      const found = counted.get(attempt);
      if (found === undefined) return;
      counted.delete(attempt);
      for (const window of found.windows) {
        if (window.count > 0) window.count--;
      }
      const { pair } = found;
      if (pair === undefined) return;
      const time = accounts.time();
      const window = pairs.find(pair, time);
      if (window !== undefined) window.count = 0;
      if (attempt.address) familiarUntil.set(pair, time + FAMILIAR_MS);
    },
  };
}

/**
 * Returns the seconds until no limit is reached, or `undefined` if none is.
 *
 * Refused attempts leave nothing in memory, so they can't displace other keys.
 * Keys whose limit is reached stay in memory.
 */
function secondsLeft(
  limits: readonly Limit[],
  time: number,
): number | undefined {
  const reached = limits.filter(({ counter, key, max }) =>
    (counter.peek(key, time)?.count ?? 0) >= max
  );
  if (reached.length === 0) return undefined;
  const ends = reached.map(({ counter, key }) => counter.open(key, time).end);
  return Math.max(1, Math.ceil((Math.max(...ends) - time) / 1_000));
}
