/**
 * Options of limits that share a store, and custom stores.
 *
 * @module
 */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import {
  type AuthError,
  createAuthPlugin,
  credentials,
  rateLimitSignIn,
  type SignInLimiter,
} from "@quartet/kit/auth";
import {
  rateLimit,
  type RateLimitKey,
  type RateLimitStore,
} from "@quartet/kit/rpc";
import { createKvRateLimitStore } from "@quartet/kit/rpc/kv";
import { createRedisRateLimitStore } from "@quartet/kit/rpc/redis";
import { limitedCall, limitedSignIn, passes } from "./rate_limit_contract.ts";

/** Creates a store that allows everything and records its calls. */
function openStore(fail?: () => never) {
  const taken: RateLimitKey[][] = [];
  const store: RateLimitStore = {
    take(keys) {
      fail?.();
      taken.push([...keys]);
      return { wait: 0, windows: keys.map(() => 1) };
    },
    settle: () => fail?.(),
  };
  return { store, taken };
}

Deno.test("rateLimit() and rateLimitSignIn() require a name with a store", () => {
  const { store } = openStore();
  const reason =
    "name must be a non-empty string, received undefined; limits with a store need one";
  assertThrows(
    () => rateLimit({ limit: 1, windowMs: 1, store }),
    TypeError,
    `Cannot create rate limit: ${reason}`,
  );
  assertThrows(
    () => rateLimitSignIn({ store }),
    TypeError,
    `Cannot create sign-in limiter: ${reason}`,
  );
  // Valid without a store, as in development.
  rateLimit({ limit: 1, windowMs: 1, name: "a", fallback: "refuse" });
});

Deno.test("Wrong settings of shared limits are TypeErrors", () => {
  const wrong: [option: string, value: unknown, expected: string][] = [
    [
      "store",
      {},
      "a rate limit store, such as createRedisRateLimitStore()",
    ],
    [
      "store",
      () => {},
      "a rate limit store, such as createRedisRateLimitStore()",
    ],
    ["name", "", "a non-empty string"],
    ["name", 1, "a non-empty string"],
    ["fallback", "open", 'one of "memory", "allow", "refuse"'],
  ];
  for (const [option, value, expected] of wrong) {
    const options = { name: "a", [option]: value };
    const text = `${option} must be ${expected}, received`;
    const limit = { limit: 1, windowMs: 1, ...options };
    assertThrows(() => rateLimit(limit as never), TypeError, text);
    assertThrows(() => rateLimitSignIn(options as never), TypeError, text);
  }
  for (const create of [createRedisRateLimitStore, createKvRateLimitStore]) {
    for (const options of [{}, { name: "a" }, { name: "" }]) {
      assertThrows(
        () => create(options as never),
        TypeError,
        "Cannot create rate limit store: ",
      );
    }
  }
});

Deno.test("A custom store receives rules and keys, and may answer synchronously", async () => {
  const { store, taken } = openStore();
  const call = limitedCall({ store, name: "search", limit: 3 });
  assertEquals(await passes(() => call(), 10), 10);
  assertEquals(taken[0], [{
    rule: { name: "rpc:search", max: 3, windowMs: 60_000 },
    key: "ada",
  }]);
  const { limiter } = limitedSignIn({ store, name: "login" });
  const attempt = {
    provider: "p",
    credentials: { email: "ada" },
    address: "10.0.0.1",
  };
  assertEquals(limiter.check(attempt), undefined);
  assertEquals(limiter.succeeded(attempt), undefined);
  assertEquals(taken.at(-1)!.map(({ rule, key }) => [rule.name, key]), [
    ["sign-in-address:login", "10.0.0.1"],
    ["sign-in-account:login", "p\nADA"],
    ["sign-in-pair:login", "p\nADA\n10.0.0.1"],
  ]);
});

Deno.test("A store's UnavailableError is an outage, any other error fails the call", async () => {
  const away = openStore(() => {
    throw new UnavailableError("Cannot reach it", { retryAfter: 3 });
  });
  const call = limitedCall({ store: away.store });
  assertEquals(await passes(() => call()), 5);
  const { succeed } = limitedSignIn({ store: away.store });
  assertEquals(await passes(() => succeed(), 30), 30);
  const broken = openStore(() => {
    throw new RangeError("a defect");
  });
  const { fail } = limitedSignIn({ store: broken.store, fallback: "allow" });
  await assertRejects(() => fail(), RangeError, "a defect");
});

Deno.test("Custom sign-in limiters may return a value or a promise", async () => {
  const outcomes: string[] = [];
  const later = <T>(value: T): Promise<T> => Promise.resolve(value);
  const make = (
    answer: <T>(value: T) => T | Promise<T>,
  ): SignInLimiter => ({
    check: ({ credentials }) => answer(credentials["wait"] as number),
    succeeded: ({ credentials }) =>
      answer(void outcomes.push(String(credentials["email"]))),
  });
  for (const signInLimiter of [make((value) => value), make(later)]) {
    const auth = createAuthPlugin({
      session: { secret: "a secret of at least thirty-two bytes" },
      providers: [credentials({
        authorize: ({ email }) => Promise.resolve({ id: String(email) }),
      })],
      signInLimiter,
    });
    const request = new Request("http://localhost/");
    const visit = await auth.authenticate(request, undefined);
    const session = await visit.signIn("credentials", { email: "ada" });
    assertEquals(session.userId, "ada");
    const { code, retryAfter } = await assertRejects(() =>
      visit.signIn("credentials", { email: "bob", wait: 7 })
    ) as AuthError;
    assertEquals([code, retryAfter], ["RATE_LIMITED", 7]);
  }
  assertEquals(outcomes, ["ada", "ada"]);
});
