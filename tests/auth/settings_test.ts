/** Unsafe settings are errors. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createAuthPlugin,
  createMemorySessionStore,
  mock,
  rateLimitSignIn,
} from "@quartet/kit/auth";
import type { AuthConfig } from "@quartet/kit/auth";
import { createKvSessionStore } from "@quartet/kit/auth/kv";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { ROOT, startDeno } from "../helpers.ts";
import { byName, SECRET, startAuth, STRATEGIES } from "./harness.ts";

Deno.test("createAuthPlugin() rejects invalid and unsafe settings", () => {
  const secured = { session: { secret: SECRET } };
  const wrong: [AuthConfig, string][] = [
    [{}, "session.secret"],
    [{ session: {} as never }, "session.secret"],
    [{ session: { secret: "" } }, "session.secret"],
    [{ session: { secret: [] } }, "session.secret"],
    [{ session: { secret: [SECRET, ""] } }, "session.secret[1]"],
    [{ session: { secret: 1 as never } }, "session.secret"],
    [{ session: { secret: null as never } }, "session.secret"],
    [{ secret: "" }, "session.secret"],
    [{ session: { secret: SECRET, strategy: "JWT" as never } }, "strategy"],
    ...[0, -1, NaN, Infinity, "60" as never, null as never].map((
      maxAge,
    ): [AuthConfig, string] => [
      { session: { secret: SECRET, maxAge } },
      "session.maxAge",
    ]),
    [{ session: { secret: SECRET, updateAge: -1 } }, "session.updateAge"],
    [{ session: { secret: SECRET, absoluteMaxAge: 0 } }, "absoluteMaxAge"],
    [{ session: { secret: SECRET, clockTolerance: -1 } }, "clockTolerance"],
    [{ session: { secret: SECRET, issuer: "" } }, "session.issuer"],
    [{ session: { secret: SECRET, audience: [] as never } }, "audience"],
    [
      { session: { secret: SECRET }, providers: [byName(), byName()] },
      'two providers have the id "credentials"',
    ],
    [
      { session: { secret: SECRET }, providers: [{} as never] },
      "without an id",
    ],
    [
      { session: { secret: SECRET }, providers: [null as never] },
      "without an id",
    ],
    [
      {
        session: { secret: SECRET },
        providers: [{ id: "a", name: "A", type: "credentials" } as never],
      },
      "a function authorize",
    ],
    [
      { ...secured, callbacks: { signIn: () => false } as never },
      'unknown option "callbacks.signIn"; did you mean onSignIn? Known options: onSessionCreated, onSessionValidate, onSignIn',
    ],
    [
      { ...secured, callbacks: { onSignIn: true as never } },
      "callbacks.onSignIn must be a function, received true",
    ],
    [
      { ...secured, onEvent: null as never },
      "onEvent must be a function, received null",
    ],
    [
      { ...secured, address: "x-forwarded-for" as never },
      'address must be a function, received "x-forwarded-for"',
    ],
    [
      { ...secured, providers: byName() as never },
      "providers must be an array of providers, received an object",
    ],
    [{ ...secured, now: 0 as never }, "now must be a function"],
    [
      { ...secured, debug: "no" as never },
      'debug must be true or false, received "no"',
    ],
    [
      { ...secured, sessionDuration: 0 },
      "sessionDuration must be a number of seconds, at least 1 and at most 1000000000000, received 0",
    ],
    [
      { session: { secret: SECRET, maxAge: Number.MAX_SAFE_INTEGER } },
      "session.maxAge must be a number of seconds, at least 1 and at most 1000000000000, received 9007199254740991",
    ],
    [
      { session: { secret: SECRET, clockTolerance: 1e12 + 1 } },
      "session.clockTolerance must be a number of seconds, at least 0 and at most 1000000000000, received 1000000000001",
    ],
    [
      { ...secured, session: "a" as never },
      'session must be an object, received "a"',
    ],
    [
      { ...secured, signInLimiter: rateLimitSignIn as never },
      "signInLimiter must be a limiter, such as rateLimitSignIn(), received a function",
    ],
    [
      { session: { secret: SECRET, store: createMemorySessionStore() } },
      'session.store must be absent with the strategy "jwt"',
    ],
    [
      {
        session: {
          secret: SECRET,
          strategy: "hybrid",
          store: new Map() as never,
        },
      },
      "session.store must be a store, such as createRedisSessionStore(), received an object without a function deleteByUser",
    ],
  ];
  for (const [config, message] of wrong) {
    const error = assertThrows(
      () => createAuthPlugin(config),
      TypeError,
      message,
    );
    assert(!error.message.includes(SECRET));
  }
});

Deno.test("Sessions of the greatest maxAge and clockTolerance work, in all strategies", async () => {
  for (const strategy of STRATEGIES) {
    const session = { strategy, maxAge: 1e12, clockTolerance: 1e12 };
    await using server = await startAuth({ session });
    const browser = await server.signIn();
    server.clock.pass(1e12);
    assertEquals((await browser.json("/me")).user.id, "1");
    assertEquals(server.errors, []);
  }
});

Deno.test("Creating a store without a database throws", () => {
  assertThrows(
    () => createRedisSessionStore({ client: undefined as never }),
    TypeError,
    "Cannot create session store: client must be a client of npm:redis 5 or 6 (createClient, createSentinel, createCluster) or of npm:ioredis (Redis, Cluster), received undefined",
  );
  assertThrows(
    () => createKvSessionStore({ kv: {} as never }),
    TypeError,
    "Cannot create session store: kv must be a database from Deno.openKv(), received an object",
  );
});

Deno.test("Closing an app closes its session store, a custom one too", async () => {
  let closed = 0;
  const store = Object.assign(createMemorySessionStore(), {
    close: () => void closed++,
  });
  const auth = createAuthPlugin({
    session: { secret: SECRET, strategy: "hybrid", store },
  });
  await createApp({ plugins: [auth] }).close();
  assertEquals(closed, 1);
});

Deno.test("In production, secrets have at least 32 bytes and mock() throws", () => {
  const short = "only thirty-one bytes of secret";
  assertEquals(short.length, 31);
  const make = (secret: string | string[]) =>
    createAuthPlugin({ session: { secret } });
  make(short);
  mock();
  for (
    const [name, value] of [
      ["DENO_ENV", "production"],
      ["NODE_ENV", "production"],
      ["DENO_DEPLOYMENT_ID", "abc"],
    ] as const
  ) {
    Deno.env.set(name, value);
    try {
      for (const secret of [short, [SECRET, short]]) {
        const error = assertThrows(() => make(secret), TypeError, "32 bytes");
        assert(!error.message.includes(short));
      }
      make(`${short}!`);
      // Bytes count, not characters.
      make("ü".repeat(16));
      assertThrows(() => mock(), TypeError);
    } finally {
      Deno.env.delete(name);
    }
  }
});

Deno.test("A short secret is reported once outside production", async () => {
  const script = `
    import { createAuthPlugin } from "@quartet/kit/auth";
    for (const secret of ["a".repeat(32), "short", "brief"]) {
      createAuthPlugin({ session: { secret } });
    }`;
  await using child = startDeno(["eval", script]);
  assertEquals(await child.code, 0);
  assertEquals(
    child.stderr,
    "session.secret has 5 bytes. In production it must have at least 32; make one with: openssl rand -base64 32\n",
  );
});

Deno.test("An unknown environment is reported once, and counts as development", async () => {
  const warnings = async (environments: readonly Record<string, string>[]) => {
    const script = `
      import { mock } from "@quartet/kit/auth";
      for (const environment of ${JSON.stringify(environments)}) {
        for (const name of ["DENO_ENV", "NODE_ENV"]) Deno.env.delete(name);
        for (const each of Object.entries(environment)) Deno.env.set(...each);
        for (let i = 0; i < 2; i++) try { mock(); } catch { console.log("production"); }
      }`;
    await using child = startDeno(["eval", script]);
    assertEquals(await child.code, 0, child.stderr);
    const { stdout, stderr } = child;
    return [stderr, stdout.match(/production/g)?.length ?? 0] as const;
  };
  const known = ["", "development", "test"].flatMap((value) => [
    { DENO_ENV: value },
    { NODE_ENV: value },
  ]);
  const production = { NODE_ENV: "production", DENO_ENV: "staging" };
  assertEquals(await warnings([{}, ...known, production]), ["", 2]);
  const text = (variable: string, value: string) =>
    `${variable} is ${value}, which counts as development. In production, set it to "production". Known values: development, production, test\n`;
  const cases = [
    [{ DENO_ENV: "prod" }, text("DENO_ENV", '"prod"')],
    [
      { DENO_ENV: "test", NODE_ENV: "Production" },
      text("NODE_ENV", '"Production"'),
    ],
    [
      { NODE_ENV: `\x1b[2J\u202e\n${"x".repeat(10_000)}` },
      text("NODE_ENV", `"\\u001b[2J?\\n${"x".repeat(73)}…"`),
    ],
  ] as const;
  for (const [environment, warning] of cases) {
    const [logged, productions] = await warnings([environment, {
      DENO_ENV: "production ",
    }]);
    assertEquals([logged, productions], [warning, 0]);
  }
});

Deno.test("An environment that can't be read counts as production", async () => {
  const script = `
    import { createAuthPlugin, mock } from "@quartet/kit/auth";
    const short = () => createAuthPlugin({ session: { secret: "short" } });
    for (const make of [mock, short]) {
      try {
        make();
        console.log("made");
      } catch (error) {
        console.log(error.name);
      }
    }`;
  for (
    const [permissions, expected] of [
      [["--allow-env"], "made\nmade\n"],
      [[], "TypeError\nTypeError\n"],
      [["--allow-env=HOME"], "TypeError\nTypeError\n"],
    ] as const
  ) {
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--no-prompt", ...permissions, "-"],
      cwd: ROOT,
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const writer = process.stdin.getWriter();
    await writer.write(new TextEncoder().encode(script));
    await writer.close();
    const { stdout } = await process.output();
    assertEquals(new TextDecoder().decode(stdout), expected);
  }
});
