import { assertEquals } from "@std/assert";
import { apiKey } from "@quartet/kit/auth";
import type { ApiKeyOptions } from "@quartet/kit/auth";
import { exchange } from "../helpers.ts";
import { byName, startAuth } from "./harness.ts";

/** Creates a provider with one key that records what it validates. */
function keyed(options: Partial<ApiKeyOptions> = {}) {
  const asked: string[] = [];
  const provider = apiKey({
    validate(key) {
      asked.push(key);
      return key === KEY ? { id: "1" } : null;
    },
    ...options,
  });
  return { provider, asked };
}

const KEY = "k+/=!~815";

function request(query = "", headers: HeadersInit = {}): Request {
  return new Request(`http://localhost/report${query}`, { headers });
}

Deno.test("A key is read from its header", async () => {
  const { provider, asked } = keyed();
  assertEquals(
    [provider.id, provider.name, provider.type],
    ["apiKey", "API key", "credentials"],
  );
  const valid = request("", { "X-API-Key": KEY });
  assertEquals(await provider.authenticate!(valid), { id: "1" });
  const wrong = request("", { "x-api-key": "wrong" });
  assertEquals(await provider.authenticate!(wrong), null);
  assertEquals(asked, [KEY, "wrong"]);

  const own = keyed({ header: "x-token", id: "robots", name: "Robots" });
  assertEquals([own.provider.id, own.provider.name], ["robots", "Robots"]);
  const renamed = request("", { "x-token": KEY });
  assertEquals(await own.provider.authenticate!(renamed), { id: "1" });
  assertEquals(own.provider.authenticate!(valid), undefined);
});

Deno.test("apiKey() ignores a request without a key", () => {
  const { provider, asked } = keyed({ queryParam: "key" });
  for (
    const query of [
      "",
      "?",
      "?other=1",
      "?Key=1",
      "?xkey=1",
      "?k%65=1",
      "#?key=1",
    ]
  ) {
    const { authenticate } = provider;
    assertEquals(authenticate!(request(query)), undefined, query);
  }
  const withoutParameter = keyed().provider;
  assertEquals(
    withoutParameter.authenticate!(request(`?x-api-key=${KEY}`)),
    undefined,
  );
  assertEquals(asked, []);
});

Deno.test("A key is read from the query as it was written", async () => {
  const { provider } = keyed({ queryParam: "api key" });
  for (
    const query of [
      `?api%20key=${KEY}`,
      `?a=1&api%20key=${encodeURIComponent(KEY)}&b=2`,
      `?api%20key=${KEY}#fragment`,
      `?api%20ke%79=%6B+/=!~815`,
      `?api%20key=${KEY}&api%20key=${KEY}`,
    ]
  ) {
    const user = await provider.authenticate!(request(query));
    assertEquals(user, { id: "1" }, query);
  }
});

Deno.test("Empty, malformed or contradicting keys are refused without validation", async () => {
  const { provider, asked } = keyed({ queryParam: "key" });
  const cases: Request[] = [
    request("?key"),
    request("?key="),
    request("?key=%"),
    request("?key=%E0%A4%A"),
    request("?key=%00"),
    request("?key=a%20b"),
    request("?key=é"),
    request("?key=a&key=b"),
    request("?key=a&k%65y=b"),
    request(`?key=${KEY}&key=`),
    request(`?key=${KEY}&key=%`),
    request(`?key=${"x".repeat(5000)}`),
    request("", { "x-api-key": "" }),
    request("", { "x-api-key": "a b" }),
    request("", [["x-api-key", KEY], ["x-api-key", KEY]]),
    request("", [["x-api-key", KEY], ["x-api-key", "b"]]),
    request("", { "x-api-key": "x".repeat(5000) }),
    request("", { "x-api-key": "\u00e9" }),
    request("?key=other", { "x-api-key": KEY }),
    request("?key=", { "x-api-key": KEY }),
    request(`?key=${KEY}`, { "x-api-key": "" }),
  ];
  for (const request of cases) {
    assertEquals(await provider.authenticate!(request), null, request.url);
  }
  assertEquals(asked, []);
  const same = request(`?key=${KEY}`, { "x-api-key": KEY });
  assertEquals(await provider.authenticate!(same), { id: "1" });
});

Deno.test("signIn() with a key reads it from apiKey", async () => {
  const { provider, asked } = keyed();
  assertEquals(await provider.authorize({ apiKey: KEY }), { id: "1" });
  for (
    const apiKey of [undefined, null, "", 5, [KEY], { toString: () => KEY }]
  ) {
    assertEquals(await provider.authorize({ apiKey }), null);
  }
  assertEquals(await provider.authorize({ "x-api-key": KEY, id: "1" }), null);
  assertEquals(asked, [KEY]);
});

Deno.test("validate() that returns nothing authenticates nobody, and its error is passed on", async () => {
  const nothing = keyed({ validate: (() => undefined) as never });
  const valid = request("", { "x-api-key": KEY });
  assertEquals(await nothing.provider.authenticate!(valid), null);
  const failing = keyed({ validate: () => Promise.reject(new Error("down")) });
  const error = await failing.provider.authenticate!(valid)!
    .then(() => undefined, (error) => error);
  assertEquals(error.message, "down");
});

Deno.test("A key authenticates only its own request", async () => {
  const { provider } = keyed({ queryParam: "key" });
  await using app = await startAuth({ providers: [provider, byName()] });
  const browser = app.browser();
  const headers = { "x-api-key": KEY };
  const me = await browser.json("/me", { headers });
  assertEquals([me.session.userId, me.session.provider], ["1", "apiKey"]);
  assertEquals(browser.received, []);
  const inQuery = await browser.json(`/me?key=${KEY}`);
  assertEquals(inQuery.session.userId, "1");
  assertEquals((await browser.json("/me")).session, null);
  for (const path of ["/me?key=", "/me?key=%E0%A4%A", "/me?key=a&key=b"]) {
    assertEquals((await browser.json(path)).session, null, path);
  }
});

Deno.test("A key header sent twice authenticates nobody", async () => {
  const { provider, asked } = keyed();
  await using app = await startAuth({ providers: [provider] });
  const answer = await exchange(
    Number(new URL(app.origin).port),
    [
      "GET /me HTTP/1.1",
      "Host: localhost",
      `X-Api-Key: ${KEY}`,
      `x-api-key: ${KEY}`,
      "Connection: close",
      "",
      "",
    ].join("\r\n"),
  );
  assertEquals(answer.includes('"session":null'), true, answer);
  assertEquals(asked, []);
});
