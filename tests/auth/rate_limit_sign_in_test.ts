import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  rateLimitSignIn,
} from "@quartet/kit/auth";
import type {
  RateLimitSignInOptions,
  SignInAttempt,
  SignInLimiter,
} from "@quartet/kit/auth";
import { startServer } from "./browser.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** An attempt to sign in: the account's address and the client's. */
interface Try {
  readonly email?: unknown;
  readonly address?: string | undefined;
  readonly provider?: string;
  readonly more?: Record<string, unknown>;
}

/** A limiter that counts in memory and answers synchronously. */
interface MemoryLimiter extends SignInLimiter {
  check(attempt: SignInAttempt): number | undefined;
}

/** Creates a limiter with a clock that the test advances. */
function limited(options: RateLimitSignInOptions = {}) {
  const clock = { time: 0 };
  const limiter = rateLimitSignIn({
    now: () => clock.time,
    ...options,
  }) as MemoryLimiter;
  const attemptOf = (
    { email = "ada@example.com", provider = "credentials", more, ...rest }: Try,
  ) => ({
    provider,
    credentials: { email, password: "x", ...more },
    address: "address" in rest ? rest.address : "192.0.2.1",
  });
  return {
    clock,
    limiter,
    /** Makes a failing attempt. Returns the seconds to wait if it's refused. */
    fail: (who: Try = {}) => limiter.check(attemptOf(who)),
    /**
     * Makes a successful attempt. Returns the seconds to wait if it's refused.
     */
    succeed(who: Try = {}): number | undefined {
      const attempt = attemptOf(who);
      const seconds = limiter.check(attempt);
      if (seconds === undefined) limiter.succeeded(attempt);
      return seconds;
    },
  };
}

/** Counts the attempts until one is refused, up to a bound. */
function passes(attempt: (i: number) => number | undefined, bound = 1_000) {
  let count = 0;
  while (count < bound && attempt(count) === undefined) count++;
  return count;
}

Deno.test("rateLimitSignIn() allows ten failures per account and address in 15 minutes", () => {
  const { clock, fail, succeed } = limited();
  assertEquals(passes(() => fail()), 10);
  assertEquals(fail(), 900);
  clock.time = 5 * MINUTE + 1;
  assertEquals(fail(), 600);
  assertEquals(succeed(), 600, "even the right password is refused");
  assertEquals(fail({ email: "bob@example.com" }), undefined);
  assertEquals(fail({ address: "192.0.2.2" }), undefined);
  assertEquals(fail({ provider: "other" }), undefined);
  clock.time = 15 * MINUTE - 0.1;
  assertEquals(fail(), 1);
  clock.time = 15 * MINUTE;
  assertEquals(passes(() => fail()), 10);
});

Deno.test("Refused attempts don't extend the wait", () => {
  const { clock, fail } = limited();
  for (let i = 0; i < 1_000; i++) {
    clock.time = i * MINUTE / 1_000;
    fail();
  }
  clock.time = 15 * MINUTE;
  assertEquals(fail(), undefined);
});

Deno.test("Concurrent guesses count like sequential ones", () => {
  const { limiter } = limited();
  const attempts = Array.from({ length: 1_000 }, () => ({
    provider: "credentials",
    credentials: { email: "ada@example.com" },
    address: "192.0.2.1",
  }));
  const passed = attempts.filter((attempt) =>
    limiter.check(attempt) === undefined
  );
  assertEquals(passed.length, 10);
});

Deno.test("Success clears an account's failures from that address", () => {
  const { fail, succeed } = limited();
  for (let round = 0; round < 9; round++) {
    assertEquals(passes(() => fail(), 9), 9);
    assertEquals(succeed(), undefined);
  }
  assertEquals(passes(() => fail({ address: "192.0.2.2" })), 10);
  assertEquals(succeed(), undefined);
  assertEquals(
    fail({ address: "192.0.2.2" }),
    900,
    "not those from other addresses",
  );
});

Deno.test("Successful sign-ins aren't limited", () => {
  const { succeed } = limited({ perAddress: 5, perAccount: 5 });
  assertEquals(passes(() => succeed(), 500), 500);
  assertEquals(passes((i) => succeed({ email: `${i}` }), 500), 500);
  assertEquals(passes((i) => succeed({ address: `10.0.0.${i}` }), 250), 250);
});

Deno.test("rateLimitSignIn() allows a hundred failures per address, with any accounts", () => {
  const { clock, fail, succeed } = limited();
  assertEquals(passes((i) => fail({ email: `user${i}` })), 100);
  assertEquals(fail({ email: "another" }), 900);
  assertEquals(fail({ email: "another", address: "192.0.2.2" }), undefined);
  clock.time = 15 * MINUTE;
  // Success with their own account clears only that account's failures.
  const spray = (i: number) => {
    if (i % 9 === 8) succeed({ email: "mallory" });
    return fail({ email: `user${i}` });
  };
  assertEquals(passes(spray), 100);
});

Deno.test("rateLimitSignIn() allows a hundred failures per account, from any addresses", () => {
  const { clock, fail } = limited();
  const address = (i: number) => `10.0.${i >> 8}.${i & 255}`;
  assertEquals(passes((i) => fail({ address: address(i) })), 100);
  assertEquals(fail({ address: "198.51.100.1" }), 900);
  assertEquals(fail({ email: "bob", address: "198.51.100.1" }), undefined);
  clock.time = 15 * MINUTE;
  assertEquals(fail({ address: "198.51.100.1" }), undefined);
});

Deno.test("Users can sign in from addresses they have used before, during attacks too", () => {
  const { clock, fail, succeed } = limited();
  const home = "198.51.100.1";
  const attack = (time: number) => {
    clock.time = time;
    passes((i) => fail({ address: `10.0.0.${i}` }));
  };
  assertEquals(succeed({ address: home }), undefined);
  for (const time of [0, DAY, 29 * DAY]) {
    attack(time);
    assertEquals(fail({ address: "203.0.113.9" }), 900);
    assertEquals(fail({ address: home }), undefined);
    assertEquals(succeed({ address: home }), undefined);
    // Other people with that address still get only ten guesses.
    assertEquals(passes(() => fail({ address: home })), 10);
  }
  // 30 days after the last sign-in from that address.
  attack(59 * DAY - 1);
  assertEquals(fail({ address: home }), undefined);
  clock.time += 15 * MINUTE;
  attack(clock.time);
  assertEquals(fail({ address: home }), 900, "it is forgotten after 30 days");
  // The address is known for that account only.
  attack(90 * DAY);
  clock.time += 15 * MINUTE;
  assertEquals(succeed({ email: "bob", address: home }), undefined);
  assertEquals(passes((i) => fail({ address: `10.0.1.${i}` })), 100);
  assertEquals(fail({ address: home }), 900);
});

Deno.test("Different spellings of an account count as one", () => {
  const { fail } = limited();
  const spellings = [
    "ada@example.com",
    "ADA@EXAMPLE.COM",
    " ada@example.com\t",
    "\uff41da@example.com",
    "a\u0301da@example.com",
    "\u00e1da@example.com",
    "ad\u200ba@example.com",
    "ada\u00ad@example.com",
    "\u{1d41a}da@example.com",
    `ada@${" ".repeat(10_000)}example.com`,
  ];

  for (const email of spellings) assertEquals(fail({ email }), undefined);
  for (const email of spellings) assertEquals(fail({ email }), 900);
  assertEquals(fail({ email: "ada@example.org" }), undefined);
});

Deno.test("Spellings that databases treat as equal count as one account", () => {
  const same: [string, ...string[]][] = [
    [
      "ada",
      "\u00c1d\u00e1",
      "A\u0301DA\u0301",
      "ADA",
      "\uff41\uff44\uff41",
      "a\u200bda",
      "ada ",
      " ada\r\n",
      "ada\0",
      "\0a\0d\0a\0\0",
      "a\u0007da",
      "a\u2060da",
      "a\ufeffda",
      // Invisible, and neither marks nor controls.
      "a\u3164da",
      "a\uffa0da",
      "a\u115fda",
      "a\u{e0041}da",
      // Variation selectors, unassigned and private characters, half pairs.
      "a\ufe0fda",
      "a\u{e0100}da",
      "a\u0378da",
      "a\ue000da",
      "a\ud800da",
      "ada\udc00",
      "a\u0300\u0301\u0302\u0303d\u0323a",
      "\u24d0da",
      "\u00aada",
    ],
    ["strasse", "stra\u00dfe", "STRA\u1e9eE", "\u017ftra\u017fse"],
    ["istanbul", "\u0130stanbul", "\u0131stanbul", "ISTANBUL"],
    ["odos", "\u00f8dos", "\u00d3DOS", "o\u0111os"],
    ["\u03bf\u03b4\u03bf\u03c2", "\u039f\u0394\u039f\u03a3"],
    ["aether", "\u00e6ther", "\u00c6THER"],
    ["office", "o\ufb03ce"],
    ["kelvin", "\u212aelvin"],
  ];
  for (const [name, ...spellings] of same) {
    for (const spelling of spellings) {
      const { fail } = limited({ perAccountAndAddress: 1 });
      assertEquals(fail({ email: spelling }), undefined);
      assertEquals(fail({ email: name }), 900, JSON.stringify(spelling));
    }
  }
  for (
    const [a, b] of [
      ["ada", "eda"],
      ["ada", "ad"],
      ["ada", "\u0430da"],
      ["ada1", "ada2"],
      ["\u6c49", "\u5b57"],
    ] as const
  ) {
    const { fail } = limited({ perAccountAndAddress: 1 });
    fail({ email: a });
    assertEquals(fail({ email: b }), undefined, `${a} ${b}`);
  }
});

Deno.test("At most 1,024 characters of an account name are normalized", () => {
  const lengths: number[] = [];
  const { normalize } = String.prototype;
  // Counting characters gives the same result on any machine, unlike a time.
  String.prototype.normalize = function (form?: string) {
    lengths.push(this.length);
    return normalize.call(this.slice(0, 5_000), form);
  };
  try {
    for (
      const piece of [
        "\u0301\u0323",
        "\uff9e\uff9f",
        "\ufdfa",
        "\u00a8",
        "x",
        "\0",
        "\u3164\u0301",
        "\ud800",
      ]
    ) {
      const { fail } = limited();
      const email = `ada${piece.repeat(100_000)}`;
      assertEquals(passes(() => fail({ email })), 10);
      assertEquals(fail({ email: "bob" }), undefined);
    }
    const { fail } = limited();
    const marks = "\u0301\u0323".repeat(100_000);
    assertEquals(passes(() => fail({ email: "ada" })), 10);
    assertEquals(fail({ email: `a${marks}da${marks}` }), 900);
  } finally {
    String.prototype.normalize = normalize;
  }
  assert(lengths.length > 50);
  assertEquals(Math.max(...lengths), 1_024);
});

Deno.test("A field that the provider ignores doesn't bypass the limit", () => {
  for (
    const field of ["username", "user", "login", "name", "identifier", "phone"]
  ) {
    const { fail } = limited();
    assertEquals(
      passes((i) => fail({ email: `${i}`, more: { [field]: "bob" } })),
      10,
    );
    assertEquals(fail({ email: "bob" }), 900);
  }
  const { limiter } = limited();
  const check = (credentials: Record<string, unknown>) =>
    limiter.check({ provider: "p", credentials, address: "192.0.2.1" });
  assertEquals(passes(() => check({ id: 5 })), 10);
  assertEquals(check({ id: "5" }), 900, "numbers and their text are equal");
});

Deno.test("A name in an array or of another type doesn't bypass the limit", () => {
  for (
    const [name, ...disguises] of [
      ["ada", ["ada"], ["\u200bADA"]],
      ["5", 5, 5n, [5], [5n]],
      ["lovelace,ada", ["lovelace", "ada"]],
    ]
  ) {
    for (const email of disguises) {
      const { fail } = limited();
      assertEquals(passes(() => fail({ email })), 10);
      assertEquals(fail({ email: name }), 900);
      const elsewhere = limited().fail;
      const address = (i: number) => `10.0.${i >> 8}.${i & 255}`;
      const spread = (i: number) => elsewhere({ email, address: address(i) });
      assertEquals(passes(spread), 100);
      assertEquals(elsewhere({ email: name, address: "192.0.2.9" }), 900);
    }
  }
  // Nested values could be any account, so all of them count as one.
  const deep = JSON.parse("[".repeat(50_000) + '"ada"' + "]".repeat(50_000));
  const nested = [[["ada"]], [["eve"], "bob"], [{}], [{ toString: 1 }], deep];
  const { fail } = limited();
  assertEquals(passes((i) => fail({ email: nested[i % nested.length] })), 10);
  assertEquals(fail({ email: "ada" }), undefined);
  // Names in parts aren't counted, because many would look like one.
  assertEquals(passes(() => fail({ email: { first: "Ada" } }), 50), 50);
});

Deno.test("Success with a similar name doesn't make the address known for the other account", () => {
  for (
    const own of ["ÁDA@example.com", "ada@example.com ", ["Ada@example.com"]]
  ) {
    const { fail, succeed } = limited();
    let guesses = 0;
    for (let i = 0; i < 20; i++) {
      const address = `198.51.100.${i}`;
      succeed({ email: own, address });
      guesses += passes(() => fail({ address }), 9);
    }
    assertEquals(guesses, 100);
    assertEquals(succeed({ email: own, address: "198.51.100.1" }), undefined);
  }
});

Deno.test("Success with two names clears neither, because one may be another user's", () => {
  const { fail, succeed } = limited();
  assertEquals(passes(() => fail({ email: "bob" }), 9), 9);
  const both = { email: "bob", more: { username: "mallory" } };
  assertEquals(succeed(both), undefined);
  assertEquals(passes(() => fail({ email: "bob" })), 1);
  // Nor does the address become known for bob.
  passes((i) => fail({ email: "bob", address: `10.0.0.${i}` }));
  const elsewhere = { ...both, address: "198.51.100.1" };
  assertEquals(succeed(elsewhere), 900);
  assertEquals(fail({ email: "bob", address: "198.51.100.1" }), 900);
});

Deno.test("Credentials without an account count for their address", () => {
  const { limiter } = limited();
  const values = [
    {},
    { password: "x" },
    { email: "" },
    { email: null, user: [], username: {}, login: true },
    JSON.parse('{"__proto__":{"email":"bob"}}'),
  ];
  const check = (i: number) =>
    limiter.check({
      provider: "p",
      credentials: values[i % values.length]!,
      address: "192.0.2.1",
    });
  assertEquals(passes(check), 100);
});

Deno.test("account() sets the account that is counted", () => {
  const { fail, succeed } = limited({
    account: ({ tenant, email }) =>
      tenant === undefined ? undefined : `${tenant}/${email}`,
  });
  const of = (tenant: string) => ({ more: { tenant, username: "u" } });
  assertEquals(passes(() => fail(of("a")), 9), 9);
  assertEquals(succeed(of("a")), undefined);
  assertEquals(passes(() => fail(of("a"))), 10);
  assertEquals(fail(of("A")), 900);
  assertEquals(fail(of("b")), undefined);
  assertEquals(passes(() => fail()), 80, "the rest of the address's attempts");
});

Deno.test("An IPv6 network counts as one address, in any notation", () => {
  const limit = { perAddress: 1 };
  const isSame = (a: string, b: string) => {
    const { fail } = limited(limit);
    fail({ email: "a", address: a });
    return fail({ email: "b", address: b }) !== undefined;
  };
  for (
    const [a, b] of [
      ["2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff"],
      ["2001:db8::1", "2001:0DB8:0000:0:1:2:3:4"],
      ["2001:db8:1:2:3::", "2001:db8:1:2::"],
      ["fe80::1%eth0", "fe80::2%eth1"],
      ["[2001:db8::1]", "2001:db8::2"],
      ["::1", "::2"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["::FFFF:c000:201", "192.0.2.1"],
      ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
      ["64:ff9b::192.0.2.1", "192.0.2.1"],
      ["[64:FF9B:0:0:0:0:C000:0201]:80", "192.0.2.1"],
      ["192.0.2.9:5000", "192.0.2.9:5001"],
      ["[2001:db8:0:9::1]:80", "[2001:db8:0:9::2]:81"],
    ] as const
  ) assert(isSame(a, b), `${a} ${b}`);
  for (
    const [a, b] of [
      ["2001:db8::1", "2001:db8:0:1::1"],
      ["2001:db8:1::", "2001:db8::1:0:0:0:0"],
      ["::ffff:192.0.2.1", "::ffff:192.0.2.2"],
      ["64:ff9b::192.0.2.1", "64:ff9b::192.0.2.2"],
      ["192.0.2.1", "192.0.2.10"],
      ["::ffff:0:1", "::1"],
      ["unix", "unix2"],
      ["::x", "::y"],
      [":::", "::"],
      ["::1]/@[", "::2]/@["],
      ["x".repeat(10_000), `${"x".repeat(10_000)}y`],
      ["\ud800", "\ud801"],
      ["__proto__", "constructor"],
    ] as const
  ) assert(!isSame(a, b), `${a} ${b}`);
});

Deno.test("Without an address, an account has ten failures, and other accounts are unaffected", () => {
  for (const address of [undefined, ""]) {
    const { fail } = limited();
    assertEquals(passes(() => fail({ address })), 10);
    assertEquals(passes((i) => fail({ email: `${i}`, address }), 500), 500);
  }
});

Deno.test("A late or repeated success doesn't raise a limit", () => {
  const { clock, limiter, fail } = limited();
  const attempt = {
    provider: "credentials",
    credentials: { email: "bob" },
    address: "192.0.2.1",
  };
  assertEquals(limiter.check(attempt), undefined);
  clock.time = 15 * MINUTE;
  for (let i = 0; i < 3; i++) limiter.succeeded(attempt);
  assertEquals(fail(), undefined);
  for (let i = 0; i < 3; i++) limiter.succeeded(attempt);
  // The failure in between counts.
  assertEquals(passes((i) => fail({ email: `${i}` })), 99);
});

Deno.test("Concurrent successes from a new address leave no failure behind", () => {
  const { limiter, fail } = limited({ perAccount: 2 });
  const attempts = [1, 2].map(() => ({
    provider: "credentials",
    credentials: { email: "ada" },
    address: "192.0.2.1",
  }));
  for (const each of attempts) assertEquals(limiter.check(each), undefined);
  for (const each of attempts) limiter.succeeded(each);
  const address = (i: number) => `198.51.100.${i}`;
  assertEquals(passes((i) => fail({ email: "ada", address: address(i) })), 2);
});

Deno.test("Setting the clock back neither extends nor ends a window", () => {
  const { clock, fail } = limited();
  clock.time = DAY;
  assertEquals(passes(() => fail()), 10);
  clock.time = 0;
  assertEquals(fail(), 900);
  clock.time = 15 * MINUTE;
  assertEquals(fail(), undefined);
});

Deno.test("With too many accounts, the least recently used are forgotten, not the attacked one", () => {
  const { fail } = limited({ maxKeys: 100, perAddress: 1e9 });
  assertEquals(passes(() => fail({ email: "victim" })), 10);
  for (let i = 0; i < 5_000; i++) {
    assertEquals(fail({ email: `${i}${"x".repeat(500)}` }), undefined);
    if (i % 10 === 0) assertEquals(fail({ email: "victim" }), 900);
  }
});

Deno.test("Refused attempts don't evict other counters", () => {
  const FIELDS = ["username", "user", "login", "name", "identifier", "phone"];
  const fresh = (i: number) =>
    Object.fromEntries(FIELDS.map((field) => [field, `${field} ${i}`]));
  const victim = (i: number) => ({ email: "victim", address: `10.0.0.${i}` });
  for (
    const [flood, options] of [
      // Refused because of the address, or because of the account.
      [{ email: "any" }, { perAddress: 7, perAccountAndAddress: 100 }],
      [{ email: "burnt" }, { perAddress: 1e9, perAccountAndAddress: 7 }],
      [{ email: "burnt", address: undefined }, { perAccountAndAddress: 7 }],
    ] as const
  ) {
    const { fail } = limited({ ...options, perAccount: 20, maxKeys: 100 });
    assertEquals(passes((i) => fail(victim(i))), 20);
    assertEquals(passes(() => fail(flood)), 7);
    for (let i = 0; i < 5_000; i++) {
      assertEquals(fail({ ...flood, more: fresh(i) }), 900);
    }
    assertEquals(fail(victim(99)), 900);
  }
});

Deno.test("Refused attempts don't refresh existing counters at the expense of others", () => {
  const { fail } = limited({ perAddress: 1e9, perAccount: 3, maxKeys: 100 });
  assertEquals(passes((i) => fail({ email: `mallory ${i}` }), 60), 60);
  const victim = (i: number) => ({ email: "victim", address: `10.0.0.${i}` });
  assertEquals(passes((i) => fail(victim(i))), 3);
  assertEquals(passes(() => fail({ email: "burnt" })), 3);
  for (let i = 0; i < 5_000; i++) {
    const more = { username: `mallory ${i % 60}` };
    assertEquals(fail({ email: "burnt", more }), 900);
  }
  assertEquals(passes((i) => fail({ email: `another ${i}` }), 3), 3);
  assertEquals(fail(victim(99)), 900);
});

Deno.test("account() isn't called for an address over its limit", () => {
  let asked = 0;
  const { fail } = limited({
    perAddress: 5,
    account({ email }) {
      asked++;
      return `${email}`;
    },
  });
  assertEquals(passes(() => fail()), 5);
  assertEquals(asked, 5);
  for (let i = 0; i < 100; i++) assertEquals(fail({ email: `${i}` }), 900);
  assertEquals(asked, 5);
});

Deno.test("rateLimitSignIn() rejects invalid limits", () => {
  for (
    const name of [
      "perAccountAndAddress",
      "perAccount",
      "perAddress",
      "maxPendingPerAddress",
      "windowMs",
      "maxKeys",
    ]
  ) {
    for (const value of [0, -1, NaN, Infinity, "a"]) {
      assertThrows(
        () => rateLimitSignIn({ [name]: value }),
        TypeError,
        `Cannot create sign-in limiter: ${name} must be a positive number, received`,
      );
    }
  }
});

Deno.test("A sign-in over the limit gets 429 and Retry-After without calling the provider", async () => {
  let asked = 0;
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [credentials({
      authorize({ password }) {
        asked++;
        return Promise.resolve(password === "right" ? { id: "1" } : null);
      },
    })],
    signInLimiter: rateLimitSignIn({ perAccountAndAddress: 3, now: () => 0 }),
  });
  await using server = await startServer(auth, [{
    path: "/sign-in",
    method: "POST",
    async handler(request, context) {
      await getAuth(context).signIn("credentials", await request.json());
      return new Response("hello");
    },
  }]);
  const signIn = async (password: string) => {
    const response = await fetch(`${server.origin}/sign-in`, {
      method: "POST",
      body: JSON.stringify({ email: "ada@example.com", password }),
    });
    await response.body?.cancel();
    return [response.status, response.headers.get("retry-after")];
  };
  for (const password of ["a", "b"]) {
    assertEquals(await signIn(password), [401, null]);
  }
  assertEquals(await signIn("right"), [200, null]);
  const guesses = Array.from({ length: 50 }, (_, i) => signIn(`guess ${i}`));
  const answers = await Promise.all(guesses);
  assertEquals(answers.filter(([status]) => status === 401).length, 3);
  assertEquals(answers.filter(([status]) => status === 429).length, 47);
  assertEquals(asked, 6);
  assertEquals(await signIn("right"), [429, "900"]);
  assertEquals(asked, 6);
});

Deno.test("Behind a proxy, the app's address option sets the address of a request", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [credentials({ authorize: () => null })],
    signInLimiter: rateLimitSignIn({ perAddress: 1, now: () => 0 }),
    address: ({ headers }) => headers.get("x-real-ip") ?? undefined,
  });
  await using server = await startServer(auth, [{
    path: "/sign-in",
    async action({ request, context }) {
      await getAuth(context).signIn("credentials", await request.json());
    },
  }]);
  const signIn = async (address: string, email: string) => {
    const response = await fetch(`${server.origin}/sign-in`, {
      method: "POST",
      headers: { "x-real-ip": address },
      body: JSON.stringify({ email, password: "a" }),
    });
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await signIn("192.0.2.1", "ada@example.com"), 401);
  assertEquals(await signIn("192.0.2.1", "bob@example.com"), 429);
  assertEquals(await signIn("192.0.2.2", "bob@example.com"), 401);
});
