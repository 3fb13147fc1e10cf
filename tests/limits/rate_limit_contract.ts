/**
 * Tests of limits for every store. Each store's test file runs them.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import {
  rateLimitSignIn,
  type RateLimitSignInOptions,
  type SignInAttempt,
} from "@quartet/kit/auth";
import {
  createCaller,
  createRouter,
  procedure,
  rateLimit,
  type RateLimitOptions,
  type RateLimitStore,
  RPCError,
} from "@quartet/kit/rpc";

export interface LimitsUnderTest extends AsyncDisposable {
  /** Number of processes that share the store; 1 for a memory store. */
  readonly processes: number;
  /**
   * Opens the store as one process would. Returns the options of a limit that
   * uses it.
   */
  open(): { readonly store?: RateLimitStore; readonly now?: () => number };
  pass(ms: number): Promise<void>;
  /** Makes the clock of the store move back. */
  rewind(ms: number): Promise<void>;
}

/** The settings of the tests of a store. */
export interface LimitsContract {
  readonly name: string;
  readonly make: () => Promise<LimitsUnderTest>;
  /** Whether the store's requirements are missing. */
  readonly ignore?: boolean;
  readonly title?: (name: string) => string;
}

/**
 * A window that a test waits for, in milliseconds. Long enough for the calls
 * before its end.
 */
const SHORT = 2_000;
const MINUTE = 60_000;

/** Keys that could be confused with others, or with the store's own. */
const HOSTILE_KEYS: readonly string[] = [
  "",
  " ",
  "a",
  "A",
  ":",
  "a:b",
  "a\nb",
  "\0",
  "*",
  "{a}",
  "}{",
  "mark",
  "sha256:",
  "sha256:a",
  "__proto__",
  "constructor",
  "\u00e9",
  "e\u0301",
  "\ud800",
  "\udc00",
  "\ufffd",
  "x".repeat(1_000_000),
  `${"x".repeat(1_000_000)}y`,
  "\ud800".repeat(1_000),
  "\udc00".repeat(1_000),
];

/** Calls a limited procedure. Resolves to 0, or the seconds to wait. */
export type Call = (key?: string) => Promise<number>;

export function limitedCall(options: Partial<RateLimitOptions>): Call {
  const limited = procedure.use(rateLimit({
    limit: 5,
    windowMs: MINUTE,
    name: "calls",
    key: ({ ctx }) => ctx as unknown as string,
    ...options,
  }));
  const router = createRouter({ call: limited.query(() => "done") });
  return async (key = "ada") => {
    try {
      await createCaller(router, key).call.query();
      return 0;
    } catch (error) {
      assert(error instanceof RPCError, String(error));
      assertEquals(error.code, "RATE_LIMITED");
      return (error.details as { retryAfter: number }).retryAfter;
    }
  };
}

/** Creates functions that try to sign in. They resolve as {@linkcode Call}. */
export function limitedSignIn(options: RateLimitSignInOptions) {
  const limiter = rateLimitSignIn({ name: "sign-in", ...options });
  const begin = async (email: string, address?: string) => {
    const attempt: SignInAttempt = {
      provider: "credentials",
      credentials: { email },
      address,
    };
    const seconds = await limiter.check(attempt);
    return { seconds: seconds ?? 0, attempt };
  };
  return {
    limiter,
    begin,
    fail: async (email = "ada", address?: string) =>
      (await begin(email, address)).seconds,
    async succeed(email = "ada", address?: string): Promise<number> {
      const { seconds, attempt } = await begin(email, address);
      if (seconds === 0) await limiter.succeeded(attempt);
      return seconds;
    },
  };
}

/** Counts the attempts until one is refused, up to a bound. */
export async function passes(
  attempt: (i: number) => Promise<number>,
  bound = 300,
): Promise<number> {
  let count = 0;
  while (count < bound && await attempt(count) === 0) count++;
  return count;
}

/** Counts the concurrent attempts that pass. */
export async function passAtOnce(
  count: number,
  attempt: (i: number) => Promise<number>,
): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => attempt(i)),
  );
  return answers.filter((seconds) => seconds === 0).length;
}

/** Runs the tests with a store. */
export function testLimits(
  { name, make, ignore, title }: LimitsContract,
): void {
  function test(
    what: string,
    fn: (limits: LimitsUnderTest) => Promise<void>,
  ): void {
    const full = `${name}: ${what}`;
    Deno.test({
      name: title?.(full) ?? full,
      ignore: ignore ?? false,
      async fn() {
        await using limits = await make();
        await fn(limits);
      },
    });
  }

  /** Creates one value for each process. */
  function each<T>(
    { processes, open }: LimitsUnderTest,
    fn: (options: ReturnType<LimitsUnderTest["open"]>) => T,
  ): T[] {
    return Array.from({ length: processes }, () => fn(open()));
  }

  test("all processes share one limit", async (limits) => {
    const calls = each(limits, (options) => limitedCall(options));
    const next = (i: number) => calls[i % calls.length]!();
    assertEquals(await passes(next), 5);
    for (const call of calls) {
      const seconds = await call();
      assert(seconds > 50 && seconds <= 60, `${seconds} s`);
      assertEquals(await call("bob"), 0, "another key");
    }
  });

  test("a thousand concurrent calls never exceed the limit", async (limits) => {
    const calls = each(
      limits,
      (options) => limitedCall({ ...options, limit: 100 }),
    );
    const next = (i: number) => calls[i % calls.length]!();
    assertEquals(await passAtOnce(1_000, next), 100);
    assertEquals(await passAtOnce(100, next), 0);
  });

  test("a window ends, and refused calls don't extend it", async (limits) => {
    const windowMs = SHORT;
    const calls = each(
      limits,
      (options) => limitedCall({ ...options, windowMs }),
    );
    const next = (i: number) => calls[i % calls.length]!();
    assertEquals(await passes(next), 5);
    await limits.pass(SHORT / 2);
    assertEquals(await passAtOnce(20, next), 0);
    await limits.pass(SHORT / 2);
    assertEquals(await passes(next), 5);
  });

  test("nobody waits longer than a window, even if the clock has moved back", async (limits) => {
    const options = limits.open();
    const call = limitedCall(options);
    const signIn = limitedSignIn(options);
    assertEquals(await passes(() => call()), 5);
    assertEquals(await passes(() => signIn.fail()), 10);
    await limits.rewind(3_600_000);
    const seconds = await call();
    assert(seconds > 0 && seconds <= 60, `${seconds} s`);
    const left = await signIn.fail();
    assert(left > 60 && left <= 15 * 60, `${left} s`);
  });

  test("limits with different names or of different kinds are separate", async (limits) => {
    const options = limits.open();
    const calls = limitedCall({ ...options, name: "a" });
    const others = limitedCall({ ...options, name: "b" });
    assertEquals(await passes(() => calls()), 5);
    assertEquals(await passes(() => others()), 5);
    const { fail } = limitedSignIn({ ...options, name: "a", perAccount: 3 });
    assertEquals(await passes(() => fail()), 3);
    const other = limitedSignIn({ ...options, name: "b", perAccount: 3 });
    assertEquals(await passes(() => other.fail()), 3);
  });

  test("keys of any text and length are separate", async (limits) => {
    const call = limitedCall({ ...limits.open(), limit: 1 });
    for (const key of HOSTILE_KEYS) {
      assertEquals(await call(key), 0, JSON.stringify(key.slice(0, 20)));
    }
    for (const key of HOSTILE_KEYS) {
      assert(await call(key) > 0, JSON.stringify(key.slice(0, 20)));
    }
  });

  test("limits and windows may be fractional or very large", async (limits) => {
    const options = limits.open();
    const half = limitedCall({ ...options, name: "a", limit: 0.5 });
    assertEquals(await passes(() => half()), 1);
    const short = limitedCall({ ...options, name: "b", windowMs: 0.5 });
    assertEquals(await short(), 0);
    const huge = limitedCall({ ...options, name: "c", windowMs: 1e300 });
    assertEquals(await passes(() => huge()), 5);
    const many = limitedCall({ ...options, name: "d", limit: 1e300 });
    assertEquals(await passes(() => many(), 20), 20);
  });

  test("sign-ins are limited by account and address, by account, and by address", async (limits) => {
    const signIns = each(limits, (options) =>
      limitedSignIn({
        ...options,
        perAccountAndAddress: 5,
        perAccount: 8,
        perAddress: 10,
      }));
    const fail = (i: number, email: string, address: string) =>
      signIns[i % signIns.length]!.fail(email, address);
    assertEquals(await passes((i) => fail(i, "ada", "10.0.0.1")), 5);
    assertEquals(await passes((i) => fail(i, "ada", `10.0.1.${i}`)), 3);
    assertEquals(await passes((i) => fail(i, `user${i}`, "10.0.0.1")), 5);
    // A refused attempt isn't counted for any of its keys.
    assertEquals(await passes((i) => fail(i, "bob", "10.0.2.1")), 5);
    assertEquals(await passes((i) => fail(i, "bob", `10.0.3.${i}`)), 3);
    const seconds = await fail(0, "ada", "10.0.2.9");
    assert(seconds > 14 * 60 && seconds <= 15 * 60, `${seconds} s`);
  });

  test("a thousand concurrent guesses count as ten", async (limits) => {
    const signIns = each(limits, (options) => limitedSignIn(options));
    const next = (i: number) =>
      signIns[i % signIns.length]!.fail("ada", "10.0.0.1");
    assertEquals(await passAtOnce(1_000, next), 10);
  });

  test("a thousand concurrent guesses from different addresses count as a hundred", async (limits) => {
    const signIns = each(limits, (options) => limitedSignIn(options));
    const next = (i: number) =>
      signIns[i % signIns.length]!.fail("ada", `10.0.${i >> 8}.${i & 255}`);
    assertEquals(await passAtOnce(1_000, next), 100);
  });

  test("success removes its attempt, clears the account's failures there and makes the address known", async (limits) => {
    const signIns = each(
      limits,
      (options) =>
        limitedSignIn({ ...options, perAccount: 12, perAddress: 30 }),
    );
    const at = (i: number) => signIns[i % signIns.length]!;
    for (let round = 0; round < 3; round++) {
      assertEquals(await passes((i) => at(i).fail("ada", "10.0.0.1"), 9), 9);
      assertEquals(await at(round).succeed("ada", "10.0.0.1"), 0);
    }
    // The address has 27 failures, with any accounts.
    assertEquals(await passes((i) => at(i).fail(`user${i}`, "10.0.0.1")), 3);
    // Failures at a known address don't count for the account.
    assertEquals(await passes((i) => at(i).fail("ada", `10.0.1.${i}`)), 3);
  });

  test("a user can sign in from a known address during an attack", async (limits) => {
    const signIns = each(
      limits,
      (options) =>
        limitedSignIn({ ...options, perAccount: 12, perAddress: 1e6 }),
    );
    const home = "10.0.0.1";
    assertEquals(await signIns[0]!.succeed("ada", home), 0);
    const attack = (i: number) =>
      signIns[i % signIns.length]!.fail("ada", `10.0.1.${i}`);
    assertEquals(await passes(attack), 12);
    for (const { fail, succeed } of signIns) {
      assert(await fail("ada", "10.0.9.9") > 0);
      assertEquals(await succeed("ada", home), 0);
    }
    assertEquals(await passes(() => signIns[0]!.fail("ada", home)), 10);
    assert(await signIns.at(-1)!.fail("ada", home) > 0);
  });

  test("each success removes its own attempt, once", async (limits) => {
    const { begin, limiter, fail } = limitedSignIn({
      ...limits.open(),
      perAccount: 12,
    });
    const attempts = await Promise.all(
      [1, 2].map((i) => begin("ada", `10.0.0.${i}`)),
    );
    assertEquals(await passes((i) => fail("ada", `10.0.1.${i}`), 3), 3);
    for (const { attempt } of [...attempts, ...attempts]) {
      await limiter.succeeded(attempt);
    }
    assertEquals(await passes((i) => fail("ada", `10.0.2.${i}`)), 9);
  });

  test("a late success changes nothing in later windows", async (limits) => {
    const { begin, limiter, fail } = limitedSignIn({
      ...limits.open(),
      windowMs: SHORT,
      perAddress: 20,
    });
    const { attempt } = await begin("bob", "10.0.0.1");
    await limits.pass(SHORT);
    assertEquals(await fail("ada", "10.0.0.1"), 0);
    await limiter.succeeded(attempt);
    assertEquals(await passes((i) => fail(`${i}`, "10.0.0.1")), 19);
  });
}
