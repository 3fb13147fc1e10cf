/**
 * Secrets in errors, and their redaction in the log, the trace and its exports.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createApp, createUpgrader } from "@quartet/kit/app";
import { createAuthPlugin, credentials } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { createRouter, procedure } from "@quartet/kit/rpc";
import {
  createCLIReporter,
  createCollector,
  createTracer,
  serializeTrace,
  toChromeTrace,
  toOTLP,
  traceError,
  tracePlugin,
} from "@quartet/kit/trace";
import { Hub } from "../data/shared_store.ts";
import { assertLinear } from "../growth.ts";

const SECRET = "hunter2-s3cr3t";
const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.c2VjcmV0LXNpZw";

/** Percent-encodes a text repeatedly. */
function encoded(text: string, times: number): string {
  return times === 0 ? text : encoded(encodeURIComponent(text), times - 1);
}

const NESTED = `https://ada:${SECRET}@b.example/cb?code=${SECRET}#${SECRET}`;

const PEM = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAAhunter2
hunter2+/==
-----END PRIVATE KEY-----`;

const ENCRYPTED = `-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,3F17F5316E2BAC89

MIIEvQIBADANBgkqhkiG9w0BAQEFAAhunter2
hunter2+/==
-----END RSA PRIVATE KEY-----`;

/** Tokens of GitHub, GitLab, Slack, Stripe, OpenAI, npm, Google and Deno. */
const TOKENS = [
  "ghp_",
  "github_pat_",
  "glpat-",
  "xoxb-1234-",
  "sk_live_",
  "sk-proj-",
  "npm_",
  "AIza",
  "ddp_",
].map((prefix) => `${prefix}hunter2${"a".repeat(30)}`);

/** Texts with a secret, and the redacted parts that must remain. */
const TEXTS: Readonly<Record<string, readonly [text: string, kept: string]>> = {
  "a query value": [
    `Cannot fetch https://a.example/x?access_token=${SECRET}&page=2: refused`,
    "https://a.example/x?access_token=REDACTED&page=2: refused",
  ],
  "user info": [
    `Cannot fetch https://ada:${SECRET}@a.example/x.`,
    "https://REDACTED:REDACTED@a.example/x.",
  ],
  "a user without a password": [
    `clone git+https://${SECRET}@a.example/x`,
    "git+https://REDACTED:REDACTED@a.example/x",
  ],
  "a fragment": [
    `Cannot open (https://a.example/x#${SECRET}), stopped`,
    "(https://a.example/x#REDACTED), stopped",
  ],
  "a fragment with pairs": [
    `Redirected to /cb#access_token=${SECRET}&token_type=bearer`,
    "/cb#REDACTED",
  ],
  "a relative address": [
    `GET /cb?code=${SECRET}&state=${SECRET}&lang=fr failed`,
    "/cb?code=REDACTED&state=REDACTED&lang=fr failed",
  ],
  "a nested address": [
    `Cannot open https://a.example/?next=${NESTED}&x=1`,
    "https://a.example/?next=https://REDACTED:REDACTED@b.example/cb?code=REDACTED#REDACTED",
  ],
  ...Object.fromEntries(
    [1, 2, 3, 4, 5].map((times) => [
      `an address encoded ${times} times`,
      [
        `Cannot open https://a.example/?next=${encoded(NESTED, times)}&x=1`,
        "https://a.example/?next=https://REDACTED:REDACTED@b.example/cb",
      ],
    ]),
  ),
  "an address encoded too many times": [
    `Cannot open https://a.example/?next=${encoded(NESTED, 9)}&x=1`,
    "REDACTED&x=1",
  ],
  "an encoded address in a path": [
    `GET /proxy/${encoded(NESTED, 1)} failed`,
    "/proxy/https://REDACTED:REDACTED@b.example/cb",
  ],
  "JSON in a query value": [
    `/rpc?input=${encoded(JSON.stringify({ password: SECRET, n: 1 }), 1)}`,
    "/rpc?input=",
  ],
  "a name in escapes": [
    `https://a.example/?%74oken=${SECRET}&user%5Bpassword%5D=${SECRET}`,
    "?%74oken=REDACTED&user%5Bpassword%5D=REDACTED",
  ],
  "a Postgres address": [
    `connect postgres://ada:${SECRET}@db:5432/app?sslmode=require failed`,
    "postgres://REDACTED:REDACTED@db:5432/app?sslmode=require failed",
  ],
  "a Redis address": [
    `connect redis://:${SECRET}@db:6379/0 failed`,
    "redis://REDACTED:REDACTED@db:6379/0 failed",
  ],
  "a password with characters that should have been encoded": [
    `Invalid URL: 'postgres://ada:p/w?#${SECRET}@db/app'`,
    "Invalid URL: 'postgres://REDACTED:REDACTED@db/app'",
  ],
  "several hosts": [
    `mongodb://ada:${SECRET}@db1:27017,db2:27017/app`,
    "mongodb://REDACTED:REDACTED@db1:27017,db2:27017/app",
  ],
  "pairs of a connection string": [
    `Server=db;User=ada;Password=${SECRET};Encrypt=true`,
    "Server=db;User=ada;Password=REDACTED;Encrypt=true",
  ],
  "a form": [
    `Cannot read user=ada&password=${SECRET}&page=2`,
    "user=ada&password=REDACTED&page=2",
  ],
  "fields of an object": [
    `bad { password: "${SECRET}", "api-key": '${SECRET}', name: "ada" }`,
    `bad { password: "REDACTED", "api-key": 'REDACTED', name: "ada" }`,
  ],
  "a short name of a password": [
    `bad { "pw": "${SECRET}", "pwa": "x" }`,
    'bad { "pw": "REDACTED"',
  ],
  "the options of a mailer": [
    `{ auth: { user: 'ada', pass: '${SECRET}' } } SMTP_PASS=${SECRET} DB_PASS=${SECRET}`,
    "{ auth: { user: 'ada', pass: 'REDACTED' } } SMTP_PASS=REDACTED DB_PASS=REDACTED",
  ],
  "JSON within JSON": [
    `bad ${JSON.stringify(JSON.stringify({ token: `a"b${SECRET}`, n: 1 }))}`,
    String.raw`{\"token\":\"REDACTED\",\"n\":1}`,
  ],
  "headers": [
    `Headers { authorization: "Basic ${SECRET}", "sec-websocket-protocol": "bearer, token.${SECRET}", accept: "*/*" }`,
    `Headers { authorization: "REDACTED", "sec-websocket-protocol": "REDACTED", accept: "*/*" }`,
  ],
  "lines of a request": [
    `GET / HTTP/1.1\nSec-WebSocket-Protocol: bearer, token.${SECRET}\nCookie: sid=${SECRET}; a=b\nAccept: x`,
    "Accept: x",
  ],
  "a list under a secret name": [
    `bad { "password": ["${SECRET}"], "cookies": { "sid": "]${SECRET}" }, "n": 1 }`,
    `bad { "password": REDACTED, "cookies": REDACTED, "n": 1 }`,
  ],
  "an object under a secret name, in JSON within JSON": [
    `bad ${
      JSON.stringify(JSON.stringify({ token: { a: `"}${SECRET}` }, n: 1 }))
    }`,
    String.raw`{\"token\":REDACTED,\"n\":1}`,
  ],
  "custom headers": [
    `GET / HTTP/1.1\nX-Api-Key: ${SECRET} ${SECRET}\nX-Page: 2`,
    "X-Page: 2",
  ],
  "a key of a storage account": [
    `AccountKey=${SECRET}==;AccountName=ada`,
    "AccountKey=REDACTED;AccountName=ada",
  ],
  "an address with slashes escaped by JSON": [
    String.raw`bad {"url":"https:\/\/ada:${SECRET}@db.example\/app"}`,
    String.raw`{"url":"https:\/\/REDACTED:REDACTED@db.example\/app"}`,
  ],
  "an address without a scheme": [
    `Cannot open //ada:${SECRET}@db.example/app`,
    "//REDACTED:REDACTED@db.example/app",
  ],
  "a quoted address without a scheme": [
    `{ base: '//ada:${SECRET}@db.example/app' }`,
    "'//REDACTED:REDACTED@db.example/app'",
  ],
  "a message that begins with a header": [
    `Cookie: theme=${SECRET}; lang=fr`,
    "Cookie: REDACTED",
  ],
  "quoted pairs of a connection string": [
    `host=db password="${SECRET} ${SECRET}" dbname=app`,
    'host=db password="REDACTED" dbname=app',
  ],
  "an invalid header value in Deno": [
    `Invalid header value: "${SECRET}\n"${SECRET}"`,
    'Invalid header value: "REDACTED"',
  ],
  "an invalid header value in Node": [
    `Headers.append: "${SECRET}\n" is an invalid header value.`,
    'Headers.append: "REDACTED" is an invalid header value.',
  ],
  "an invalid header value in Bun": [
    `Header 'x-page' has invalid value: '${SECRET}\n'`,
    "Header 'x-page' has invalid value: 'REDACTED'",
  ],
  "a value next to its name": [
    `bad {"name":"password","value":"${SECRET}","n":1} { key: 'token', value: '${SECRET}' }`,
    `bad {"name":"password","value":"REDACTED","n":1} { key: 'token', value: 'REDACTED' }`,
  ],
  "a value next to its name, in JSON within JSON": [
    `bad ${
      JSON.stringify(JSON.stringify([{ name: "Cookie", value: `a"${SECRET}` }]))
    }`,
    String.raw`[{\"name\":\"Cookie\",\"value\":\"REDACTED\"}]`,
  ],
  "the key of a row that exists": [
    `Key (token)=(${SECRET}) already exists. Key (id)=(7) does too.`,
    "Key (token)=(REDACTED) already exists. Key (id)=(7) does too.",
  ],
  "elements of XML": [
    `<user>ada</user><password>${SECRET}</password><wsse:Password>${SECRET} ${SECRET}</wsse:Password>`,
    "<user>ada</user><password>REDACTED</password><wsse:Password>REDACTED</wsse:Password>",
  ],
  "an unquoted value in a sentence": [
    `Invalid token: ${SECRET}, user: ada (password: ${SECRET}) is locked`,
    "Invalid token: REDACTED, user: ada (password: REDACTED) is locked",
  ],
  "elements of XML with attributes": [
    `<user id="1">ada</user><Password type="x" at='1'>${SECRET}</Password>\n<wsse:Password Type="text">${SECRET}</wsse:Password>`,
    `<user id="1">ada</user><Password type="x" at='1'>REDACTED</Password>\n<wsse:Password Type="text">REDACTED</wsse:Password>`,
  ],
  "a password right after its name": [
    `bad password:${SECRET} (user.password:${SECRET}, db_passwd:${SECRET}) user:ada1815`,
    "bad password:REDACTED (user.password:REDACTED, db_passwd:REDACTED) user:ada1815",
  ],
  "a symbol or a hidden field": [
    `{ [Symbol(token)]: '${SECRET}', Symbol(api.secret): "${SECRET}", [password]: [ '${SECRET}' ], [count]: 'x' }`,
    `{ [Symbol(token)]: 'REDACTED', Symbol(api.secret): "REDACTED", [password]: REDACTED, [count]: 'x' }`,
  ],
  "a user and a password in one field": [
    `{ auth: 'ada:${SECRET}', host: 'a.example' } {"auth":"ada:${SECRET}","n":1} ${
      JSON.stringify(JSON.stringify({ auth: `ada:${SECRET}`, n: 1 }))
    }`,
    `{ auth: 'REDACTED', host: 'a.example' } {"auth":"REDACTED","n":1} "{\\"auth\\":\\"REDACTED\\",\\"n\\":1}"`,
  ],
  "the verifier of a sign-in": [
    `POST /token?code_verifier=${SECRET}&page=2 with code_verifier=${SECRET}&n=1 {"codeVerifier":"${SECRET}"}`,
    `/token?code_verifier=REDACTED&page=2 with code_verifier=REDACTED&n=1 {"codeVerifier":"REDACTED"}`,
  ],
  "an id of a session in a sentence": [
    `No session for session_id=${SECRET} and sessionId=${SECRET}; state=open code=E4`,
    "No session for session_id=REDACTED and sessionId=REDACTED; state=open code=E4",
  ],
  "an id of a session in a cookie": [
    `No session for sid=${SECRET} or connect.sid=s%3A${SECRET}, SID=ORCL`,
    "No session for sid=REDACTED or connect.sid=REDACTED, SID=ORCL",
  ],
  "a signature of a cloud": [
    `bad X-Amz-Signature=${SECRET} or SharedAccessSignature=sv=${SECRET}&sr=b`,
    "bad X-Amz-Signature=REDACTED or SharedAccessSignature=REDACTED&sr=b",
  ],
  "a line of a settings file": [
    `db.password = ${SECRET}\nuser = ada1815`,
    "db.password = REDACTED\nuser = ada1815",
  ],
  "a private key": [
    `bad { key: "${PEM.replaceAll("\n", "\\n")}", n: 1 } ${PEM} and`,
    'bad { key: "-----BEGIN PRIVATE KEY-----REDACTED-----END PRIVATE KEY-----", n: 1 } -----BEGIN PRIVATE KEY-----REDACTED-----END PRIVATE KEY----- and',
  ],
  "an encrypted private key": [
    `bad ${ENCRYPTED} and "${ENCRYPTED.replaceAll("\n", "\\n")}", n: 1`,
    'bad -----BEGIN RSA PRIVATE KEY-----REDACTED-----END RSA PRIVATE KEY----- and "-----BEGIN RSA PRIVATE KEY-----REDACTED-----END RSA PRIVATE KEY-----", n: 1',
  ],
  "a token of a bot in a path": [
    `POST https://api.telegram.org/bot123456789:AAhunter2${
      "a".repeat(26)
    }/sendMessage failed`,
    "https://api.telegram.org/REDACTED/sendMessage failed",
  ],
  "tokens with a known prefix": [
    `bad ${TOKENS.join(", ")} for ada`,
    `bad ${TOKENS.map(() => "REDACTED").join(", ")} for ada`,
  ],
  "a password for a client of a database": [
    `Command failed: mysqldump -u ada -p${SECRET} -P 3306 shop, redis-cli -a '${SECRET}' ping`,
    "mysqldump -u ada -pREDACTED -P 3306 shop, redis-cli -a 'REDACTED' ping",
  ],
  "options of a command": [
    `--auth-token ${SECRET} failed: mysql --password ${SECRET} --api-key '${SECRET}' -n 1`,
    "--auth-token REDACTED failed: mysql --password REDACTED --api-key 'REDACTED' -n 1",
  ],
  "a password in SQL": [
    `Cannot run ALTER USER ada PASSWORD '${SECRET}'; create user eve identified by '${SECRET}' account lock; CREATE USER bob IDENTIFIED BY "${SECRET}"`,
    `ALTER USER ada PASSWORD 'REDACTED'; create user eve identified by 'REDACTED' account lock; CREATE USER bob IDENTIFIED BY "REDACTED"`,
  ],
  "a user of curl": [
    `Command failed: curl -s -u ada:${SECRET} --user "bob:${SECRET}" https://a.example`,
    'curl -s -u REDACTED --user "REDACTED" https://a.example',
  ],
  "a bearer token": [
    `refused Bearer ${SECRET}1 by api`,
    "refused Bearer REDACTED by api",
  ],
  "a JSON Web Token": [`bad token ${JWT}, sorry`, "bad token REDACTED, sorry"],
};

const HARMLESS = [
  "Cannot read page=2&sort=asc&author=ada&tokenizer=bpe&keyboard=de",
  'Unexpected token: "x" at https://jsr.io/@std/assert@1.0.0/mod.ts:10:5',
  "Cannot find module 'npm:preact@10.1.1' (https://esm.sh/preact@10.1.1/hooks)",
  "connect ECONNREFUSED http://localhost:8000/a%20b or http://[::1]:80, C# #12",
  "Cannot read cookie: it must be a string; code: 404, state: open, a == b",
  "usage: { total_tokens: 512, tokens: 2 }, x-axis: 5, X-Page: 2, //a@b //c:d",
  '{"field":"password","message":"required"} [{ param: "token", msg: "Invalid value" }]',
  "password: required, token: must have 8+ characters, tokens: 123456, std::hash::BuildHasher2",
  `["pass", "fail"] { pass: 12, fail: 1 } { pass: ["a"] } pass: test-1, bypass: "x"`,
  "the password 'must have 8 characters', sorted by 'created_at', password 'confirmPassword' differs",
  "--password is required; use --token to pass one, --max-tokens 100000, --token --page x1",
  '<label for="password">Password 1</label> Promise<Token>x1 docker run -u 1000:1000',
  "docker run -p 80:80 -p13306:3306 mysql:8, npm_config_registry_of_scope=x1, sk-folding-cube-animation-2",
  "it must begin with -----BEGIN PRIVATE KEY----- and end with -----END PRIVATE KEY-----, max_tokens = 100000",
  "tags token:abc123 and user:1:token:a1, hash:sha256, password:required, x::password::char20, password:=x12345",
  `{ auth: "basic" } auth: 'github:read' auth: "https://a1.example" auth: "2026-01-01T10:00:00.123Z" auth: "redis:6379/0-cluster" pwd:/home/user1/project {"auth":"a:1"} auth:session took 5 ms`,
  `items[count]: 'a' (token): x hash(password), "abc123" (password) => "abc123" rows[token] = 1`,
  `<input type="password"> <a title="password">Password 1</a> <token a="b">x</other> <td class="hash">`,
  'identified by "id", robot12345:abc, bot 12345: hello, /bot12345:x, Proc-Type: 4,ENCRYPTED',
  "keyJoin.tsx basic authentication bearer of news ?%zz=1&=&a=b=c",
];

/** Returns all outputs about an error that a handler throws. */
async function outputsOf(error: unknown): Promise<Record<string, string>> {
  const tracer = createTracer();
  let terminal = "";
  const reporter = createCLIReporter(tracer, {
    write: (text) => terminal += text,
    color: false,
    width: 4000,
  });
  await using app = createApp({
    trace: tracePlugin(tracer),
    routes: [{ path: "/", handler: () => Promise.reject(error) }],
  });
  const log = await logged(async () => {
    const response = await app.fetch(new Request("http://localhost/"));
    assertEquals(response.status, 500);
  });
  reporter.close();
  const traces = tracer.getTraces().map(serializeTrace);
  return {
    log,
    terminal,
    trace: JSON.stringify(traces),
    otlp: JSON.stringify(toOTLP(traces)),
    chrome: JSON.stringify(toChromeTrace(traces)),
  };
}

/** Captures console output, formatted as the console does. */
async function logged(work: () => Promise<unknown>): Promise<string> {
  const parts: unknown[] = [];
  const { error, log } = console;
  console.error = console.log = (...args) => void parts.push(...args);
  try {
    await work();
  } finally {
    Object.assign(console, { error, log });
  }
  return parts.map((part) =>
    typeof part === "string" ? part : Deno.inspect(part)
  ).join(" ");
}

function assertNoSecret(told: Record<string, string>): void {
  for (const [where, text] of Object.entries(told)) {
    const isClean = !text.includes("hunter2") && !text.includes("eyJ");
    assert(isClean, `${where}: ${text}`);
  }
}

for (const [what, [text, kept]] of Object.entries(TEXTS)) {
  Deno.test(`${what} in an error appears in neither the log nor the trace nor an export`, async () => {
    const told = await outputsOf(new Error(text));
    assertNoSecret(told);
    assertStringIncludes(told.log!.replaceAll("\n  ", "\n"), kept);
    assertStringIncludes(told.trace!, JSON.stringify(kept).slice(1, -1));
    for (
      const error of [
        new Error("outer", { cause: new Error(text) }),
        new Error("outer", { cause: text }),
        new AggregateError([new Error(text)], "several"),
        Object.assign(new Error("with a field"), { where: text }),
        Object.assign(new Error(text), { name: "DatabaseError" }),
        text,
        { message: text },
      ]
    ) assertNoSecret(await outputsOf(error));
  });
}

Deno.test("An error without secrets is logged unchanged", async () => {
  for (const text of HARMLESS) {
    const told = await outputsOf(new Error(text));
    assertStringIncludes(told.log!, text);
    assertStringIncludes(told.trace!, JSON.stringify(text).slice(1, -1));
  }
});

Deno.test("A secret in an error's field isn't logged, at any depth", async () => {
  const request = new Request(`http://localhost/?token=${SECRET}`, {
    headers: { cookie: SECRET, "sec-websocket-protocol": `bearer, ${SECRET}` },
  });
  const url = new URL(`https://ada:${SECRET}@a.example/?token=${SECRET}`);
  for (
    const fields of [
      { password: SECRET, smsCode: SECRET, totp: 1234567890 },
      { key: PEM, private_key: PEM, sid: SECRET },
      { config: { headers: { authorization: SECRET } } },
      { token: { a: SECRET, b: [SECRET] }, password: [SECRET, SECRET] },
      { cookies: new Map([["sid", SECRET]]), secret: new Set([SECRET]) },
      { a: { b: { c: { d: { apiKey: SECRET } } } } },
      { map: new Map([["privateKey", SECRET]]) },
      { list: [["cookie", SECRET], ["Set-Cookie", SECRET]] },
      { list: [{ name: "password", value: SECRET, hint: "x".repeat(80) }] },
      { url },
      { request },
      { headers: request.headers },
    ]
  ) {
    const error = Object.assign(new Error("with fields"), fields);
    const { log } = await outputsOf(error);
    assertNoSecret({ log: log! });
    assert(!log!.includes("1234567890"));
    assertStringIncludes(log!, "with fields");
  }
});

Deno.test("A secret is redacted even if truncation cuts it", async () => {
  for (let cut = 0; cut < 24; cut++) {
    for (
      const text of [
        `postgres://ada:${SECRET}@db/app`,
        `https://a.example/?token=${SECRET}`,
        `{ "password": "${SECRET}" }`,
      ]
    ) {
      for (const limit of [8192, 4096, 4032]) {
        const filler = "x".repeat(limit - 8 - cut) + " ";
        assertNoSecret(await outputsOf(new Error(filler + text + " tail")));
      }
    }
  }
});

Deno.test("A custom onError receives the thrown error unredacted", async () => {
  const error = new Error(`https://a.example/?token=${SECRET}`);
  const got: unknown[] = [];
  await using app = createApp({
    routes: [{ path: "/", handler: () => Promise.reject(error) }],
    onError: (error) => void got.push(error),
  });
  await app.fetch(new Request("http://localhost/"));
  const router = createRouter({
    fail: procedure.query(() => Promise.reject(error)),
  }, { onError: (error) => void got.push(error) });
  await router.handler(new Request("http://localhost/?path=fail"));
  assert(got.length === 2 && got.every((each) => each === error));
});

Deno.test("Logs of RPC, sockets, the cache and auth are redacted", async () => {
  const error = new Error(`redis://:${SECRET}@db failed, ${JWT}`);
  const fail = () => Promise.reject(error);
  const router = createRouter({ fail: procedure.query(fail) });
  const peek = (): never => {
    throw error;
  };
  const cache = createCache({
    store: {
      ...new Hub().open(),
      get: undefined!,
      peek,
    },
  });
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [credentials({ authorize: fail })],
    callbacks: { onSignOut: fail },
    debug: true,
  });
  const upgrader = createUpgrader({ message: fail as never });
  const server = Deno.serve({ port: 0, onListen() {} }, (request) => {
    upgrader.upgrade(request, { data: undefined });
    return upgrader.response(request)!;
  });
  const lines: Record<string, string> = {
    rpc: await logged(() =>
      router.handler(new Request("http://localhost/?path=fail"))
    ),
    cache: await logged(() =>
      cache.cached("key", () => Promise.resolve(1), { maxAge: 1 })
    ),
    auth: await logged(async () => {
      const visit = await auth.authenticate(new Request("http://localhost/"));
      await visit.signIn("credentials", {}).catch(() => {});
    }),
    socket: await logged(async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${server.addr.port}/`);
      const closed = new Promise((resolve) => socket.onclose = resolve);
      socket.onopen = () => socket.send("x");
      await closed;
    }),
  };
  await upgrader.close();
  await server.shutdown();
  assertNoSecret(lines);
  for (const where of ["rpc", "cache", "socket"]) {
    assertStringIncludes(lines[where]!, "redis://REDACTED:REDACTED@db failed");
  }
});

Deno.test("Browser spans are redacted when they are received", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("GET /");
  root.end();
  const { added } = createCollector(tracer).receive({
    type: "client:spans",
    traceId: root.traceId,
    spans: [{
      id: "00f067aa0ba902b7",
      parentId: root.id,
      name: "fetch",
      startTime: Date.now(),
      endTime: Date.now(),
      attributes: { "url.full": `https://a.example/?token=${SECRET}` },
      events: [{
        name: "exception",
        time: Date.now(),
        attributes: { "exception.message": `ws://a:${SECRET}@b/` },
      }],
    }],
    clock: { offset: 0 },
  });
  assertEquals(added, 1);
  assertNoSecret({
    trace: JSON.stringify(tracer.getTraces().map(serializeTrace)),
  });
});

Deno.test("traceError() redacts what it records", () => {
  const tracer = createTracer();
  tracer.withSpan("job", "custom", () => {
    traceError(new Error(`postgres://ada:${SECRET}@db/app`));
  });
  const trace = JSON.stringify(tracer.getTraces().map(serializeTrace));
  assertNoSecret({ trace });
  assertStringIncludes(trace, "postgres://REDACTED:REDACTED@db/app");
});

for (
  const text of [
    "http://",
    "?token=",
    '"password":"',
    "%25",
    "%3A%2F%2F",
    "a:b@",
    "\\",
    "eyJ-",
    "basic ",
    "://a@",
    "=//a:",
    "token: [",
    'token:{"]',
    "x-token: ",
    ";a=",
    "'a",
    "PRIVATE KEY-----\n",
    "mysql -p ",
    "sk-proj-",
    'auth:"a:',
    "[Symbol(token)]: '",
    "<token a",
    "<token a>",
    "password:",
    "PRIVATE KEY-----\nProc-Type: a",
    'identified by "',
    "bot12345:",
  ]
) {
  Deno.test(`Redacting an error with ${text} takes linear time`, () =>
    assertLinear(text, {
      prepare: (length) => new Error(text.repeat(length / text.length)),
      run: outputsOf,
    }));
}

for (const text of ["compass: [", "compass: {", 'compass => "']) {
  Deno.test(`Redacting an error that inspect() prints in full takes linear time with ${text}`, () =>
    assertLinear(text, {
      prepare: (length) => new Error(text.repeat(length / text.length)),
      run: outputsOf,
      // Longer texts are truncated in the log.
      lengths: [900, 9_000],
    }));
}
