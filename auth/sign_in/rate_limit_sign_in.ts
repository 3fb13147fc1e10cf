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

import type { OptionRules } from "../../core/check/options.ts";
import { aFunction, aPositiveNumber } from "../../core/check/rules.ts";
import { keyPart } from "../../core/key_part.ts";
import { createLimitCounter } from "../../core/limits/limit_counter.ts";
import {
  checkLimitOptions,
  SHARED_RATE_LIMIT_OPTIONS,
  type SharedRateLimitOptions,
} from "../../core/limits/rate_limit_options.ts";
import type {
  RateLimitKey,
  RateLimitRule,
} from "../../core/limits/rate_limit_store.ts";
import { type MaybePromise, whenDone } from "../../core/promises.ts";
import type { SignInAttempt, SignInLimiter } from "../options.ts";
import { accountName, accountsOf } from "./accounts_of.ts";
import { networkOfAddress } from "./client_network.ts";

/** The options of {@linkcode rateLimitSignIn}. */
export interface RateLimitSignInOptions extends SharedRateLimitOptions {
  /**
   * Maximum failures of an account from one address in a window. Success clears
   * them. Default: 10.
   */
  readonly perAccountAndAddress?: number;
  /**
   * Maximum failures of an account in a window, from all addresses together.
   * Addresses with a successful sign-in to it in the last 30 days, under the same
   * spelling, don't count and aren't limited by it. Default: 100, the most attempts in a row that NIST
   * SP 800-63B (section 3.2.2) allows.
   */
  readonly perAccount?: number;
  /**
   * Maximum failures of an address in a window, with all accounts together.
   * Success doesn't clear them. Default: 100.
   */
  readonly perAddress?: number;
  /**
   * Maximum pending sign-ins of an address in this process. Further ones are
   * refused, and don't count as failures. So a flood from one address doesn't
   * delay others. Default: 20.
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
}

const OPTIONS: OptionRules<RateLimitSignInOptions> = {
  perAccountAndAddress: aPositiveNumber,
  perAccount: aPositiveNumber,
  perAddress: aPositiveNumber,
  maxPendingPerAddress: aPositiveNumber,
  windowMs: aPositiveNumber,
  account: aFunction,
  ...SHARED_RATE_LIMIT_OPTIONS,
};

const MINUTE = 60_000;
/** How long an address stays familiar to an account after a sign-in. */
const FAMILIAR_MS = 30 * 24 * 60 * MINUTE;

/**
 * Creates a limiter for the setting `signInLimiter`. After too many failures,
 * attempts are refused with `RATE_LIMITED` (status 429 with `Retry-After`), and
 * the provider isn't asked. An error that the provider throws is a failure.
 *
 * It protects from guessing the password of one account, from one address or
 * many, and from trying one password on all accounts from one address. Attackers
 * can't lock out an account's owner for long. Failures at other addresses refuse
 * the owner only if the account has very many of them. Even then, an address
 * with an earlier sign-in is exempt, as far as it is remembered.
 *
 * It doesn't protect from many addresses that try few passwords on each of many
 * accounts, nor does it refuse common passwords. An IPv6 network of 64 bits is
 * one address. If the host doesn't know addresses, all clients share one, and
 * anybody can use up an account's limit. Behind a proxy, make sure that the
 * address is the client's.
 *
 * It counts in the memory of this process, or in a `store` for all processes.
 * Then its methods return promises.
 *
 * @param options The limits.
 * @throws {TypeError} If an option is wrong or unknown, or a store has no `name`.
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
 * console.assert(await limiter.check(guess) === undefined);
 * console.assert(await limiter.check(guess) === 15 * 60);
 * ```
 */
export function rateLimitSignIn(
  options: RateLimitSignInOptions = {},
): SignInLimiter {
  const operation = "create sign-in limiter";
  checkLimitOptions(options, OPTIONS, operation);
  const {
    perAccountAndAddress = 10,
    perAccount = 100,
    perAddress = 100,
    maxPendingPerAddress = 20,
    windowMs = 15 * MINUTE,
    account,
  } = options;
  const counter = createLimitCounter(options);
  const ruleOf = (what: string, max: number): RateLimitRule => ({
    name: `sign-in-${what}:${counter.name}`,
    max,
    windowMs,
  });
  const address = ruleOf("address", perAddress);
  const accountAndAddress = ruleOf("pair", perAccountAndAddress);
  const eachAccount = ruleOf("account", perAccount);
  /** The name of the mark that a spelling of an account knows an address. */
  const familiar = counter.name === ""
    // Hashing another text takes a tenth of the time of an attempt.
    ? (pair: string) => pair
    : (pair: string) => `sign-in:${counter.name}\n${pair}`;
  /** Functions that take back attempts that were counted. */
  const takeBack = new WeakMap<SignInAttempt, () => MaybePromise<void>>();

  const namesOf = account === undefined
    ? accountsOf
    : (credentials: SignInAttempt["credentials"]) => {
      const name = account(credentials);
      return name === undefined
        ? []
        : [{ name: accountName(name), spelling: name }];
    };

  return {
    maxPendingPerAddress,
    check(attempt) {
      const network = networkOfAddress(attempt.address);
      const keys: RateLimitKey[] = [];
      if (network !== undefined) {
        const key = { rule: address, key: network };
        // Before the names are read, which takes longest.
        const wait = counter.peek(key);
        if (wait > 0) return secondsOf(wait);
        keys.push(key);
      }
      const pairs: RateLimitKey[] = [];
      let mark: string | undefined;
      const { provider } = attempt;
      for (const { name, spelling } of namesOf(attempt.credentials)) {
        const key = `${provider}\n${keyPart(name)}`;
        const pair = `${key}\n${network ?? ""}`;
        pairs.push({ rule: accountAndAddress, key: pair });
        // Another spelling may be another account, with another owner.
        mark = spelling === undefined
          ? undefined
          : familiar(`${provider}\n${keyPart(spelling)}\n${network ?? ""}`);
        const unless = mark === undefined ? {} : { unless: mark };
        keys.push({ rule: eachAccount, key, ...unless });
      }
      keys.push(...pairs);
      if (keys.length === 0) return undefined;
      // With several names, an attacker could clear the count of one of them.
      const pair = pairs.length === 1 ? pairs[0] : undefined;
      const name = pair === undefined || network === undefined
        ? undefined
        : mark;
      return whenDone(counter.take(keys), (taken) => {
        const { wait, windows } = taken;
        if (wait > 0) return secondsOf(wait);
        const settlement = {
          keys,
          windows,
          ...(pair !== undefined && { clear: pair }),
          ...(name !== undefined && { mark: { name, ms: FAMILIAR_MS } }),
        };
        takeBack.set(attempt, () => counter.settle(taken, settlement));
        return undefined;
      });
    },

    succeeded(attempt) {
      const settle = takeBack.get(attempt);
      takeBack.delete(attempt);
      return settle?.();
    },
  };
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1_000);
}
