import { assertEquals, assertThrows } from "@std/assert";
import {
  apiKey,
  credentials,
  mock,
  presetChat,
  presetCodeHost,
  presetIdentity,
} from "@quartet/kit/auth";
import { startDeno } from "../helpers.ts";
import { CLIENT } from "./oauth_setup.ts";

const CREDENTIALS = { clientId: CLIENT.id, clientSecret: CLIENT.secret };

/** A factory, its options, and its error message. */
type Refusal = readonly [
  // deno-lint-ignore no-explicit-any -- wrong on purpose
  factory: (options: any) => unknown,
  options: unknown,
  message: string,
];

const REFUSALS: readonly Refusal[] = [
  [
    presetCodeHost,
    { ...CREDENTIALS, clientId: undefined },
    "Cannot create GitHub provider: clientId must be a non-empty string, received undefined",
  ],
  [
    presetCodeHost,
    { ...CREDENTIALS, clientSecret: "" },
    'Cannot create GitHub provider: clientSecret must be a non-empty string, received ""',
  ],
  ...[
    "github.example.com",
    "http://github.example.com",
    "https://github.example.com?x=1",
    "https://user@github.example.com",
    "",
    5,
  ].map((baseUrl): Refusal => [
    presetCodeHost,
    { ...CREDENTIALS, enterprise: { baseUrl } },
    "Cannot create GitHub provider: enterprise.baseUrl must be an https URL",
  ]),
  [
    presetIdentity,
    { ...CREDENTIALS, scope: ["email"] },
    'Cannot create Google provider: scope must be one with "openid"',
  ],
  ...["*", "", "example", "https://example.com", "a@example.com", 5].map((
    hostedDomain,
  ): Refusal => [
    presetIdentity,
    { ...CREDENTIALS, hostedDomain },
    "Cannot create Google provider: hostedDomain must be a domain name",
  ]),
  [
    presetIdentity,
    { ...CREDENTIALS, jwksUrl: "http://keys.example" },
    "Cannot create Google provider: jwksUrl must be an https URL",
  ],
  ...[123, "", "../x", "12/34", "My server"].map((guildId): Refusal => [
    presetChat,
    { ...CREDENTIALS, guildId },
    "Cannot create Discord provider: guildId must be a guild's number, as a string",
  ]),
  [
    credentials,
    {},
    "Cannot create credentials provider: authorize must be a function, received undefined",
  ],
  [
    credentials,
    { id: "", authorize: () => null },
    "Cannot create credentials provider: id must be a non-empty string",
  ],
  [
    apiKey,
    {},
    "Cannot create API-key provider: validate must be a function",
  ],
  ...["", "x y", "authorization", "Cookie", "x:y", 5].map((header): Refusal => [
    apiKey,
    { validate: () => null, header },
    "Cannot create API-key provider: header must be the name of a header other than Authorization and Cookie",
  ]),
  [
    apiKey,
    { validate: () => null, queryParam: "" },
    "Cannot create API-key provider: queryParam must be a non-empty string",
  ],
  ...[-1, NaN, Infinity, "1"].map((delay): Refusal => [
    mock,
    { delay },
    "Cannot create mock provider: delay must be a number of milliseconds",
  ]),
  [
    mock,
    { user: { id: "" } },
    "Cannot create mock provider: user.id must be a non-empty string",
  ],
  [
    mock,
    { session: {} },
    "Cannot create mock provider: session.userId must be a non-empty string",
  ],
];

Deno.test("Provider factories reject invalid options and say why", () => {
  for (const [factory, options, message] of REFUSALS) {
    assertThrows(() => factory(options), TypeError, message);
  }
});

Deno.test("Provider factories hide secrets in their errors", () => {
  for (const clientSecret of [["s3cret"], { secret: "s3cret" }]) {
    const error = assertThrows(
      () =>
        presetCodeHost({ ...CREDENTIALS, clientSecret: clientSecret as never }),
      TypeError,
    );
    assertEquals(error.message.includes("s3cret"), false);
  }
});

Deno.test("mock() signs everybody in as its user", async () => {
  const provider = mock();
  assertEquals([provider.id, provider.type], ["mock", "credentials"]);
  const user = await provider.authorize({ id: "admin", roles: ["admin"] });
  assertEquals(user, {
    id: "mock",
    name: "Mock User",
    email: "mock@example.com",
    roles: [],
  });
  const ada = mock({ user: { id: "1", name: "Ada", likes: "engines" } });
  const likes: string | undefined = (await ada.authorize({}))?.likes;
  assertEquals(likes, "engines");
});

Deno.test("mock() signs in the user of its session", async () => {
  const session = {
    userId: "7",
    name: "Grace",
    roles: ["admin"],
    claims: { rank: "admiral" },
    expiresAt: new Date(0),
    sessionId: "s",
  };
  assertEquals(await mock({ session }).authorize({}), {
    id: "7",
    name: "Grace",
    email: undefined,
    roles: ["admin"],
    rank: "admiral",
  });
  const both = mock<{ id: string; name?: string; roles?: string[] }>({
    session: { userId: "7", roles: ["admin"] },
    user: { id: "8", name: "Ada" },
  });
  const user = await both.authorize({});
  assertEquals([user?.id, user?.name, user?.roles], ["8", "Ada", ["admin"]]);
});

Deno.test("mock() returns a separate user object for each sign-in", async () => {
  const provider = mock({ user: { id: "1", name: "Ada" } });
  const first = await provider.authorize({});
  first!.name = "changed";
  assertEquals((await provider.authorize({}))?.name, "Ada");
});

Deno.test("mock() waits for its delay", async () => {
  const { setTimeout: real } = globalThis;
  const waits: unknown[] = [];
  globalThis.setTimeout = ((done: () => void, ms?: number) => {
    waits.push(ms);
    return real(done, 0);
  }) as typeof setTimeout;
  try {
    await mock({ delay: 1500 }).authorize({});
    await mock({ delay: 0 }).authorize({});
    await mock().authorize({});
  } finally {
    globalThis.setTimeout = real;
  }
  assertEquals(waits, [1500]);
});

Deno.test("mock() throws in production, and if the environment can't be read", async () => {
  const code = `
    import { mock } from "@quartet/kit/auth";
    try { mock(); console.log("exists"); }
    catch (error) { console.log(error.name, error.message); }
  `;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, code);
    const outcomes = [];
    for (
      const [flags, set] of [
        [["--allow-env"], ""],
        [["--allow-env"], "Deno.env.set('DENO_ENV', 'production');"],
        [["--allow-env"], "Deno.env.set('NODE_ENV', 'production');"],
        [["--allow-env"], "Deno.env.set('DENO_DEPLOYMENT_ID', 'x');"],
        [[], ""],
      ] as const
    ) {
      await Deno.writeTextFile(file, set + code);
      const config = new URL("../../deno.json", import.meta.url).pathname;
      await using child = startDeno([
        "run",
        "--no-prompt",
        "--config",
        config,
        ...flags,
        file,
      ]);
      await child.code;
      outcomes.push(child.stdout.trim().slice(0, 34) || child.stderr);
    }
    const refused = "TypeError Cannot create mock provi";
    assertEquals(outcomes, ["exists", refused, refused, refused, refused]);
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("credentials() passes on the credentials, and treats undefined as a refusal", async () => {
  const given: unknown[] = [];
  const provider = credentials({
    id: "password",
    name: "Password",
    authorize(credentials) {
      given.push(credentials);
      return credentials["ok"] === true ? { id: "1", isAdmin: false } : null;
    },
  });
  assertEquals(
    [provider.id, provider.name, provider.type],
    ["password", "Password", "credentials"],
  );
  const user = await provider.authorize({ ok: true });
  const isAdmin: boolean | undefined = user?.isAdmin;
  assertEquals(isAdmin, false);
  assertEquals(await provider.authorize({ ok: "true" }), null);
  assertEquals(given, [{ ok: true }, { ok: "true" }]);
  assertEquals(
    credentials({ authorize: () => Promise.resolve(null) }).id,
    "credentials",
  );
  const forgetful = credentials({ authorize: (() => undefined) as never });
  assertEquals(await forgetful.authorize({}), null);
});
