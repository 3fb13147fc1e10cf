import { createSubject, PATHS, SECRET } from "./app.ts";
import { assertAllLinear, numbered, repeat, silently, TEXTS } from "./texts.ts";
import type { Text } from "./texts.ts";

const COOKIES: readonly Text[] = [
  ...TEXTS,
  numbered((i) => `name${i}=value; `),
  numbered((i) => `app.session.${i}=value; `),
  numbered((i) => `app.session=value${i}; `),
  repeat("app.session.0=a; "),
  repeat("app.session=a; "),
  repeat("a", "app.session="),
  repeat(".", "app.session="),
  repeat("a.", "app.session="),
  repeat("app.session"),
  repeat("A", "app.session=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.", ".x"),
];

const HEADERS: Readonly<Record<string, readonly Text[]>> = {
  cookie: COOKIES,
  authorization: [
    ...TEXTS,
    repeat(" ", "Bearer ", "a"),
    repeat("a.", "Bearer "),
    repeat("A", "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.", ".x"),
    repeat("bearer "),
  ],
  "content-type": [
    ...TEXTS,
    repeat(" ", "application/json", ";x"),
    repeat(" ;", "application/json"),
    repeat("; charset=utf-8", "application/json"),
    repeat(" ", "application/json; charset", "= utf-8 x"),
  ],
  connection: [...TEXTS, repeat("upgrade,"), repeat("keep-alive, ")],
  "cache-control": [...TEXTS, repeat("no-cache, "), repeat('a="b", ')],
  "if-none-match": [...TEXTS, repeat('W/"'), numbered((i) => `"${i}", `)],
  traceparent: [
    ...TEXTS,
    repeat("-", "00-" + "a".repeat(32) + "-" + "b".repeat(16) + "-01"),
    repeat("a", "01-" + "a".repeat(32) + "-" + "b".repeat(16) + "-01-"),
  ],
  tracestate: [...TEXTS, numbered((i) => `key${i}=value,`)],
  host: [...TEXTS, repeat("a."), repeat(":1"), repeat("[")],
  referer: [...TEXTS, repeat("?", "http://a/"), numbered((i) => `&k${i}=v`)],
};

const OTHER_HEADERS = [
  ..."accept accept-encoding accept-language accept-charset origin".split(" "),
  ..."forwarded x-forwarded-for x-forwarded-host x-forwarded-proto".split(" "),
  ..."sec-websocket-protocol sec-websocket-key sec-fetch-site".split(" "),
  ..."x-api-key if-modified-since range pragma user-agent".split(" "),
  ..."last-event-id upgrade expect te via x-real-ip".split(" "),
];

type Subject = ReturnType<typeof createSubject>;

/** Sends requests with the texts, if `Request` accepts them. */
async function assertAnswersLinear(
  app: Subject,
  name: string,
  texts: readonly Text[],
  make: (text: string) => Request | undefined,
): Promise<void> {
  await assertAllLinear(name, texts, async (request: Request | undefined) => {
    const response = request && await app.fetch(request);
    await response?.text();
  }, { prepare: make });
}

/** The headers of a WebSocket handshake, which get the one under test. */
const HANDSHAKE = {
  connection: "upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

for (
  const [name, texts] of [
    ...Object.entries(HEADERS),
    ...OTHER_HEADERS.map((name) => [name, TEXTS] as const),
  ]
) {
  Deno.test(`A long ${name} header takes linear time`, () =>
    silently(async () => {
      await using app = createSubject();
      const others = name === "sec-websocket-protocol" ? HANDSHAKE : {};
      for (const path of PATHS) {
        for (const method of path === "/page" ? ["GET", "POST"] : ["GET"]) {
          const url = `http://localhost${path}`;
          const title = `${method} ${path}: ${name}`;
          await assertAnswersLinear(app, title, texts, (text) => {
            const headers = { host: "localhost", ...others, [name]: text };
            try {
              return new Request(url, { method, headers });
            } catch {
              // No client can send this header.
              return undefined;
            }
          });
        }
      }
    }));
}

const PATH_TEXTS: readonly Text[] = [
  ...TEXTS,
  ...["%2e%2e/", "%2F", "%c3%a9", "%ff", "a/", ":a", "*/", "/%2e", "\\"].map(
    (text) => repeat(text),
  ),
  numbered((i) => `/${i}`),
];

const QUERY_TEXTS: readonly Text[] = [
  ...PATH_TEXTS,
  numbered((i) => `&key${i}=value`),
  repeat("&token=a"),
  repeat("&input=1"),
  repeat("&path=echo"),
  repeat("%74oken=a&"),
  repeat("%7B%22a%22%3A", "path=echo&input="),
  repeat("%5B", "path=echo&input="),
  repeat("echo.", "path="),
  repeat("a", "path=echo&input=%22", "%22"),
  repeat("a=", "key="),
];

const FORM_TEXTS: readonly Text[] = [
  ...TEXTS,
  numbered((i) => `name${i}=value&`),
  repeat("a", "user="),
  repeat("/\\", "next="),
  repeat("https://", "next="),
  repeat("%09", "next=/"),
];

const JSON_TEXTS: readonly Text[] = [
  ...TEXTS,
  repeat("["),
  repeat("[]", "[", "]"),
  repeat('{"a":'),
  repeat('"', "{"),
  repeat("a", '{"path":["echo"],"type":"query","input":"', '"}'),
  repeat("\\u0000", '{"path":["echo"],"type":"query","input":"', '"}'),
  repeat('"a",', '{"path":[', '"a"],"type":"query"}'),
  repeat("1,", '{"path":["echo"],"type":"query","input":[', "1]}"),
  (length) => "[".repeat(length / 2) + "]".repeat(length / 2),
  (length) =>
    '{"path":["echo"],"type":"query","input":' + "[".repeat(length / 2) +
    "]".repeat(length / 2) + "}",
  (length) => `{${numbered((i) => `"key ${i}":${i},`)(length)}"a":1}`,
  (length) =>
    `{"path":["post"],"type":"mutation","input":{${
      numbered((i) => `"key ${i}":${i},`)(length)
    }"a":1}}`,
  (length) =>
    `[${
      numbered((i) => `{"path":["echo"],"type":"query","input":${i}},`)(length)
    }1]`,
  repeat('"a:b",', '{"tags":[', '"a"]}'),
  (length) => `{"tags":[${numbered((i) => `"tag ${i}",`)(length)}"a"]}`,
  (length) => `{"paths":[${numbered((i) => `"/path/${i}/*",`)(length)}"/a"]}`,
  repeat("/a", '{"paths":["', '"]}'),
  repeat("%2e/", '{"paths":["/', '"]}'),
  repeat("/*", '{"paths":["', '"]}'),
  repeat("..", '{"paths":["/', '"]}'),
];

Deno.test("A long path takes linear time", () =>
  silently(async () => {
    await using app = createSubject();
    for (const start of ["/", "/fails/", "/api/rpc/", "/__app/traces/api/"]) {
      await assertAnswersLinear(app, `path ${start}`, PATH_TEXTS, (text) => {
        const url = URL.parse(`http://localhost${start}${text}`);
        return url?.hostname === "localhost" ? new Request(url) : undefined;
      });
    }
  }));

Deno.test("A long query takes linear time", () =>
  silently(async () => {
    await using app = createSubject();
    for (const path of [...PATHS, "/fails/x"]) {
      await assertAnswersLinear(
        app,
        `query of ${path}`,
        QUERY_TEXTS,
        (text) => new Request(`http://localhost${path}?${text}`),
      );
    }
  }));

Deno.test("A long JSON body takes linear time", () =>
  silently(async () => {
    await using app = createSubject();
    for (const path of ["/api/rpc", "/revalidate", "/fails/x", "/page"]) {
      await assertAnswersLinear(
        app,
        `body of ${path}`,
        JSON_TEXTS,
        (body) =>
          new Request(`http://localhost${path}`, {
            method: "POST",
            headers: {
              "content-type": "application/json",
              authorization: `Bearer ${SECRET}`,
            },
            body,
          }),
      );
    }
  }));

Deno.test("A long form takes linear time", () =>
  silently(async () => {
    await using app = createSubject();
    await assertAnswersLinear(
      app,
      "form",
      FORM_TEXTS,
      (body) =>
        new Request("http://localhost/sign-in", {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body,
        }),
    );
  }));
