import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { type App, type Context, createApp } from "@quartet/kit/app";
import {
  cacheResponse,
  type CacheResponseOptions,
  createCache,
} from "@quartet/kit/data";
import { exchange } from "../helpers.ts";
import { settle, timedCache } from "./helpers.ts";
import { Hub } from "./shared_store.ts";

/** Creates an app with one handler, which the test supplies. */
function subject(
  handle: (call: number, request: Request) => Response | Promise<Response>,
  options: Partial<CacheResponseOptions> = {},
) {
  const timed = timedCache();
  let calls = 0;
  const app: App = createApp({ onError() {} })
    .use(timed.cache.cacheResponse({ maxAge: 60, ...options }))
    .route({
      path: "/**",
      method: "*",
      handler: (request: Request, _context: Context) =>
        handle(++calls, request),
    });
  return {
    ...timed,
    app,
    get calls() {
      return calls;
    },
    get: (path = "/", init: RequestInit = {}) =>
      app.fetch(new Request(`http://localhost${path}`, init)),
  };
}

const page = (call: number) => new Response(`page ${call}`);

Deno.test("cacheResponse() caches a page for its lifetime, with ETag, Age and Cache-Control", async () => {
  const it = subject(page);
  const first = await it.get();
  assertEquals(await first.text(), "page 1");
  assertEquals(first.headers.get("cache-control"), "public, max-age=60");
  assertEquals(first.headers.has("age"), false);
  assert(/^"[\da-f]{32}"$/.test(first.headers.get("etag")!));
  it.pass(59.9);
  const second = await it.get();
  assertEquals(await second.text(), "page 1");
  assertEquals(second.headers.get("age"), "59");
  assertEquals(second.headers.get("etag"), first.headers.get("etag"));
  assertEquals(second.headers.get("date"), first.headers.get("date"));
  assertEquals(
    second.headers.get("content-type"),
    "text/plain;charset=UTF-8",
  );
  it.pass(0.1);
  assertEquals(await (await it.get()).text(), "page 2");
});

Deno.test("cacheResponse() caches pages by their full URL", async () => {
  const it = subject((_, { url }) => new Response(url));
  for (const path of ["/", "/?", "/?a=1", "/?a=2", "/a", "/a/", "/A"]) {
    for (let i = 0; i < 2; i++) {
      const text = await (await it.get(path)).text();
      assertEquals(text, `http://localhost${path}`);
    }
  }
  assertEquals(it.calls, 7);
  const other = await it.app.fetch(new Request("http://other.example/"));
  assertEquals(await other.text(), "http://other.example/");
});

Deno.test("A conditional request gets 304 if the page is unchanged", async () => {
  const it = subject((call) =>
    new Response(`page ${call}`, {
      headers: {
        "last-modified": "Tue, 01 Jan 2030 00:00:00 GMT",
        "content-language": "en",
        "x-other": "1",
      },
    })
  );
  const { headers } = await it.get();
  const etag = headers.get("etag")!;
  const asked: readonly (readonly [Record<string, string>, number])[] = [
    [{ "if-none-match": etag }, 304],
    [{ "if-none-match": `W/${etag}` }, 304],
    [{ "if-none-match": `"a,b", ${etag}` }, 304],
    [{ "if-none-match": "*" }, 304],
    [{ "if-none-match": '"other"' }, 200],
    [{ "if-none-match": etag.slice(1, -1) }, 200],
    [{ "if-modified-since": "Tue, 01 Jan 2030 00:00:00 GMT" }, 304],
    [{ "if-modified-since": "Tue, 01 Jan 2029 00:00:00 GMT" }, 200],
    [{ "if-modified-since": "nonsense" }, 200],
    // The entity tag takes precedence over the date.
    [{
      "if-none-match": '"other"',
      "if-modified-since": "Tue, 01 Jan 2030 00:00:00 GMT",
    }, 200],
  ];
  it.pass(5);
  for (const [headers, status] of asked) {
    const response = await it.get("/", { headers });
    assertEquals(response.status, status, JSON.stringify(headers));
    if (status === 304) {
      assertEquals(await response.text(), "");
      assertEquals(response.headers.get("etag"), etag);
      assertEquals(response.headers.get("age"), "5");
      assertEquals(response.headers.get("cache-control"), "public, max-age=60");
      assertEquals(response.headers.has("content-type"), false);
      assertEquals(response.headers.has("content-language"), false);
    } else await response.text();
  }
  assertEquals(it.calls, 1);
});

Deno.test("Page keys ignore the URL's fragment", async () => {
  const it = subject(page);
  for (const path of ["/a", "/a#b", "/a#"]) {
    assertEquals(await (await it.get(path)).text(), "page 1");
  }
});

Deno.test("A page made for a URL with a fragment is never shared", async () => {
  const { cache } = timedCache();
  const app = createApp().use(cache.cacheResponse({ maxAge: 60 }))
    .route({ path: "/", handler: ({ url }) => new Response(url) });
  const server = await app.serve({ port: 0, signals: false, onListen() {} });
  const { port } = server.address;
  const get = async (target: string) => {
    const head = `GET ${target} HTTP/1.1\r\nhost: a.example\r\n`;
    const answer = await exchange(port, `${head}connection: close\r\n\r\n`);
    return answer.split("\r\n\r\n")[1];
  };
  await get("/#planted");
  assertEquals(await get("/"), "http://a.example/");
  assertEquals(await get("/#planted"), "http://a.example/");
  await server.shutdown();
});

Deno.test("Caches with different vary headers don't share pages", async () => {
  const cache = createCache();
  const app = createApp()
    .use(cache.cacheResponse({ maxAge: 60, vary: ["accept-language"] }))
    .use(cache.cacheResponse({ maxAge: 60, vary: ["x-tenant"] }));
  app.route({
    path: "/",
    handler: ({ headers }) =>
      new Response(headers.get("x-tenant"), { headers: { vary: "x-tenant" } }),
  });
  const get = async (headers: HeadersInit) => {
    const request = new Request("http://localhost/", { headers });
    return await (await app.fetch(request)).text();
  };
  assertEquals(await get({ "x-tenant": "acme" }), "acme");
  assertEquals(await get({ "accept-language": "acme" }), "");
});

Deno.test("vary caches separate pages for different values of a header", async () => {
  const it = subject(
    (_, { headers }) => new Response(headers.get("accept-language")),
    { vary: ["Accept-Language"] },
  );
  for (const language of ["en", "fr", "en", "fr"]) {
    const headers = { "accept-language": language };
    const response = await it.get("/", { headers });
    assertEquals(await response.text(), language);
    assertEquals(response.headers.get("vary"), "accept-language");
  }
  assertEquals(it.calls, 2);
});

Deno.test("Responses that may not be shared aren't cached", async () => {
  const responses: Record<string, () => Response> = {
    "a cookie": () => new Response("x", { headers: { "set-cookie": "a=b" } }),
    "private": () =>
      new Response("x", { headers: { "cache-control": "private" } }),
    "no-store": () =>
      new Response("x", {
        headers: { "cache-control": "max-age=9, No-Store" },
      }),
    "no-cache": () =>
      new Response("x", { headers: { "cache-control": 'no-cache="x"' } }),
    "another Vary": () => new Response("x", { headers: { vary: "cookie" } }),
    "Vary: *": () => new Response("x", { headers: { vary: "*" } }),
    "max-age=0": () =>
      new Response("x", { headers: { "cache-control": "max-age=0" } }),
    "s-maxage=0": () =>
      new Response("x", {
        headers: { "cache-control": "max-age=9, s-maxage=0" },
      }),
    "expired": () => new Response("x", { headers: { expires: "0" } }),
    "a failure": () => new Response("x", { status: 500 }),
    "a redirect for now": () => new Response("x", { status: 302 }),
    "events": () =>
      new Response("x", { headers: { "content-type": "text/event-stream" } }),
  };
  for (const [name, make] of Object.entries(responses)) {
    const it = subject(make);
    for (let i = 0; i < 2; i++) {
      const response = await it.get();
      assertEquals(await response.text(), "x", name);
    }
    assertEquals(it.calls, 2, name);
    assertEquals(it.cache.stats().entries, 0, name);
  }
});

Deno.test("100 concurrent requests compute one page, or one each if it may not be shared", async () => {
  const shared = subject(async (call) => {
    await settle();
    return new Response(`${call}`);
  });
  const texts = await Promise.all(
    Array.from({ length: 100 }, async () => (await shared.get()).text()),
  );
  assertEquals(new Set(texts), new Set(["1"]));

  const own = subject(async (_, { headers }) => {
    await settle();
    return new Response(headers.get("x-user"), {
      headers: { "set-cookie": `user=${headers.get("x-user")}` },
    });
  });
  await Promise.all(Array.from({ length: 100 }, async (_, i) => {
    const response = await own.get("/", { headers: { "x-user": `${i}` } });
    assertEquals(response.headers.get("set-cookie"), `user=${i}`);
    assertEquals(await response.text(), `${i}`);
  }));
});

Deno.test("A page with a lifetime of 0 reaches only the request that it was made for", async () => {
  const zero = { headers: { "cache-control": "max-age=0" } };
  for (const [maxAge, init] of [[60, zero], [0, {}]] as const) {
    const gate = Promise.withResolvers<void>();
    let stock = 1;
    const it = subject(async () => {
      const text = `${stock}`;
      await gate.promise;
      return new Response(text, init);
    }, { maxAge });
    const before = it.get();
    await settle();
    stock = 0;
    const after = it.get();
    await settle();
    gate.resolve();
    assertEquals(await (await before).text(), "1");
    const response = await after;
    assertEquals(await response.text(), "0");
    assertEquals(it.cache.stats().entries, 0);
  }
});

Deno.test("A page with a lifetime of 0 can be revalidated", async () => {
  const it = subject(page, { maxAge: 0 });
  const etag = (await it.get()).headers.get("etag")!;
  assertMatch(etag, /^"[\da-f]{32}"$/);
  const same = subject(page, { maxAge: 0 });
  const headers = { "if-none-match": etag };
  assertEquals((await same.get("/", { headers })).status, 304);
  assertEquals((await same.get("/", { headers })).status, 200);
});

Deno.test("A refresh's response that isn't cached is sent to nobody else", async () => {
  for (const status of [200, 503]) {
    const gate = Promise.withResolvers<void>();
    const it = subject(async (call, { headers }) => {
      const user = headers.get("x-user");
      if (user === null) return new Response(`page ${call}`);
      await gate.promise;
      return new Response(`${user}'s`, {
        status,
        headers: { "set-cookie": `user=${user}`, "cache-control": "private" },
      });
    }, { staleWhileRevalidate: 10 });
    await it.get();
    it.pass(65);
    const ada = await it.get("/", { headers: { "x-user": "Ada" } });
    assertEquals(await ada.text(), "page 1");
    assertEquals(it.calls, 2);
    // The stale page has expired, and Ada's response isn't finished.
    it.pass(10);
    const asked = [it.get(), it.get("/", { headers: { "x-user": "Bob" } })];
    await settle();
    assertEquals(it.calls, 2);
    gate.resolve();
    const [anonymous, bob] = await Promise.all(asked);
    assertEquals(anonymous!.status, 200);
    assertEquals(await anonymous!.text(), "page 3");
    assertEquals(anonymous!.headers.getSetCookie(), []);
    assertEquals(bob!.status, status);
    assertEquals(await bob!.text(), "Bob's");
    assertEquals(bob!.headers.getSetCookie(), ["user=Bob"]);
  }
});

Deno.test("A response body that nobody reads is cancelled", async () => {
  for (
    const [options, status] of [
      [{ staleWhileRevalidate: 10 }, 200],
      [{ staleWhileRevalidate: 10 }, 503],
      [{ staleIfError: 10 }, 503],
    ] as const
  ) {
    const ended = Promise.withResolvers<void>();
    const it = subject(
      (call) =>
        call === 1 ? new Response("page 1") : new Response(
          new ReadableStream({ cancel: () => ended.resolve() }),
          { status, headers: { "cache-control": "private" } },
        ),
      options,
    );
    await it.get();
    it.pass(65);
    assertEquals(await (await it.get()).text(), "page 1");
    await ended.promise;
    assertEquals(it.calls, 2);
  }
});

Deno.test("An error of one request isn't sent to others that wait for the page", async () => {
  const { cache } = timedCache();
  const gate = Promise.withResolvers<void>();
  const failed: unknown[] = [];
  const app = createApp({ onError: (error) => void failed.push(error) })
    .use(cache.cacheResponse({ maxAge: 60 }))
    .use(async ({ headers }, _context, next) => {
      const user = headers.get("x-user");
      if (user === null) return await next();
      await gate.promise;
      if (user === "Eve") throw new Error("Eve's");
      throw new Response(`${user}'s`, { status: 403 });
    })
    .route({ path: "/**", handler: () => new Response("page") });
  const get = async (path: string, headers: HeadersInit = {}) => {
    const url = `http://localhost${path}`;
    const response = await app.fetch(new Request(url, { headers }));
    return [response.status, await response.text()] as const;
  };
  const asked = ["Ada", "Eve"].map(async (user) => {
    const first = get(`/${user}`, { "x-user": user });
    const rest = [get(`/${user}`), get(`/${user}`, { "x-user": "Bob" })];
    return await Promise.all([first, ...rest]);
  });
  await settle();
  gate.resolve();
  const [ada, eve] = await Promise.all(asked);
  assertEquals(ada, [[403, "Ada's"], [200, "page"], [403, "Bob's"]]);
  assertEquals(eve!.map(([status]) => status), [500, 200, 403]);
  assertEquals(failed.map(String), ["Error: Eve's"]);
});

for (
  const [kind, reason] of [
    ["an AbortError", undefined],
    ["a string, as on Node", "Client connection prematurely closed."],
  ]
) {
  Deno.test(`Requests that wait for an aborted one share the page of one of them, if the reason is ${kind}`, async () => {
    const it = subject(async (call, { signal }) => {
      const { promise, reject } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => reject(signal.reason));
      await (call === 1 ? promise : settle());
      return new Response(`page ${call}`);
    });
    const client = new AbortController();
    const aborted = it.get("/", { signal: client.signal });
    await settle();
    const waiting = Array.from({ length: 10 }, () => it.get());
    await settle();
    client.abort(reason);
    assertEquals((await aborted).status, 500);
    for (const response of await Promise.all(waiting)) {
      assertEquals(await response.text(), "page 2");
    }
    assertEquals(it.calls, 2);
  });
}

Deno.test("A request with Authorization gets its own response unless the page is public", async () => {
  const it = subject((call, { headers }) =>
    new Response(`${call}`, {
      headers: headers.has("x-public") ? { "cache-control": "public" } : {},
    })
  );
  const headers = { authorization: "Bearer x" };
  assertEquals(await (await it.get("/", { headers })).text(), "1");
  assertEquals(await (await it.get("/", { headers })).text(), "2");
  assertEquals(await (await it.get()).text(), "3");
  const open = { ...headers, "x-public": "1" };
  assertEquals(await (await it.get("/p", { headers: open })).text(), "4");
  assertEquals(await (await it.get("/p")).text(), "4");
});

Deno.test("A page's own Cache-Control takes precedence over maxAge", async () => {
  const it = subject((call) =>
    new Response(`${call}`, {
      headers: { "cache-control": "public, max-age=5, s-maxage=10" },
    })
  );
  const { headers } = await it.get();
  assertEquals(
    headers.get("cache-control"),
    "public, max-age=5, s-maxage=10",
  );
  it.pass(9);
  assertEquals(await (await it.get()).text(), "1");
  it.pass(1);
  assertEquals(await (await it.get()).text(), "2");
});

Deno.test("A page with an invalid or expired lifetime isn't cached", async () => {
  const past = "Thu, 01 Jan 1970 00:00:00 GMT";
  for (
    const headers of [
      { "cache-control": "max-age=soon" },
      { "cache-control": "s-maxage=, max-age=60" },
      { "cache-control": "max-age=-1" },
      { expires: "0" },
      { expires: past },
      { expires: past, date: past },
    ]
  ) {
    const it = subject((call) => new Response(`${call}`, { headers }));
    for (let i = 1; i <= 2; i++) {
      assertEquals(await (await it.get()).text(), `${i}`);
    }
  }
  // Without a Date header, the lifetime is the time until Expires.
  const it = subject(() =>
    new Response("", {
      headers: { expires: new Date(Date.now() + 3_600_000).toUTCString() },
    })
  );
  await it.get();
  it.pass(3_000);
  await it.get();
  assertEquals(it.calls, 1);
});

Deno.test("A page's own Age counts, an invalid one is ignored", async () => {
  for (const [said, age] of [["7", "8"], ["-5", "1"], ["old", "1"]] as const) {
    const it = subject(() => new Response("", { headers: { age: said } }));
    await it.get();
    it.pass(1);
    assertEquals((await it.get()).headers.get("age"), age);
  }
});

Deno.test("A page's Age shortens the lifetime that it states", async () => {
  const date = "Sat, 01 Jan 2000 00:00:00 GMT";
  for (
    const stated of [
      { "cache-control": "max-age=100" },
      { "cache-control": "max-age=500, s-maxage=100" },
      { date, expires: "Sat, 01 Jan 2000 00:01:40 GMT" },
    ] as HeadersInit[]
  ) {
    for (const [age, left] of [["70", 30], ["100", 0], ["old", 100]] as const) {
      const headers = new Headers(stated);
      headers.set("age", age);
      const it = subject((call) => new Response(`${call}`, { headers }));
      await it.get();
      it.pass(left - 0.1);
      assertEquals(await (await it.get()).text(), left > 0 ? "1" : "2");
      it.pass(0.1);
      assertEquals(await (await it.get()).text(), left > 0 ? "2" : "3");
    }
  }
});

Deno.test("A page without a body is cached", async () => {
  for (const [body, status] of [[null, 301], [null, 200], ["", 404]] as const) {
    const headers = { location: "/elsewhere" };
    const it = subject(() => new Response(body, { status, headers }));
    for (let i = 0; i < 2; i++) {
      const response = await it.get();
      assertEquals([response.status, await response.text()], [status, ""]);
      assertEquals(response.headers.get("location"), "/elsewhere");
    }
    assertEquals(it.calls, 1);
  }
});

Deno.test("A thrown Response whose body was cancelled is a 500, and no empty page is cached", async () => {
  const it = subject(async () => {
    const response = new Response("once");
    await response.body!.cancel();
    throw response;
  });
  for (let call = 1; call <= 2; call++) {
    assertEquals((await it.get()).status, 500);
    assertEquals(it.calls, call);
  }
});

Deno.test("clientMaxAge 0 makes browsers revalidate each time", async () => {
  const it = subject(page, { clientMaxAge: 0 });
  const { headers } = await it.get();
  assertEquals(headers.get("cache-control"), "public, no-cache");
  await it.get();
  assertEquals(it.calls, 1);
});

Deno.test("clientMaxAge counts from when a client gets the page, and maxAge from when it was made", async () => {
  for (const [clientMaxAge, stated] of [[20, "70"], [undefined, "60"]]) {
    const it = subject(page, { clientMaxAge } as Partial<CacheResponseOptions>);
    await it.get();
    it.pass(50);
    for (const method of ["GET", "HEAD"]) {
      const { headers } = await it.get("/", { method });
      assertEquals(headers.get("age"), "50");
      assertEquals(headers.get("cache-control"), `public, max-age=${stated}`);
    }
  }
});

Deno.test("A page's own Expires is the lifetime for clients too", async () => {
  const expires = new Date(Date.now() + 10_000).toUTCString();
  const it = subject(() => new Response("", { headers: { expires } }));
  for (let i = 0; i < 2; i++) {
    const { headers } = await it.get();
    assertEquals(headers.get("expires"), expires);
    assertEquals(headers.has("cache-control"), false);
  }
  assertEquals(it.calls, 1);
});

Deno.test("Tags, paths and unsafe requests invalidate pages", async () => {
  const it = subject(page, { tags: ["pages"] });
  const text = async (path: string) => await (await it.get(path)).text();
  assertEquals(await text("/a/b?c=1"), "page 1");
  await it.cache.revalidatePath("/a/b");
  assertEquals(await text("/a/b?c=1"), "page 2");
  await it.cache.revalidatePath("/a/*");
  assertEquals(await text("/a/b?c=1"), "page 3");
  await it.cache.revalidateTag("pages");
  assertEquals(await text("/a/b?c=1"), "page 4");
  await it.get("/a/b", { method: "POST" });
  assertEquals(await text("/a/b?c=1"), "page 6");
  await it.get("/a/b", { method: "OPTIONS" });
  assertEquals(await text("/a/b?c=1"), "page 6");
});

Deno.test("An unsafe request invalidates its page, even if inner middleware throws the response", async () => {
  const { cache } = timedCache();
  let text = "old";
  const app = createApp()
    .use(cache.cacheResponse({ maxAge: 60 }))
    .use(({ method }, _context, next) => {
      if (method === "GET") return next();
      text = "new";
      throw Response.redirect("http://localhost/", 303);
    })
    .route({ path: "/", handler: () => new Response(text) });
  const read = async () =>
    await (await app.fetch(new Request("http://localhost/"))).text();
  assertEquals(await read(), "old");
  const changed = await app.fetch(
    new Request("http://localhost/", { method: "POST" }),
  );
  assertEquals(changed.status, 303);
  assertEquals(await read(), "new");
});

Deno.test("A refused unsafe request invalidates nothing", async () => {
  const it = subject((call, { method }) =>
    new Response(`${call}`, { status: method === "POST" ? 403 : 200 })
  );
  await it.get();
  await it.get("/", { method: "POST" });
  assertEquals(await (await it.get()).text(), "1");
});

Deno.test("A stale page is served during its refresh, or if that fails", async () => {
  let status = 200;
  const it = subject((call) => new Response(`${call}`, { status }), {
    staleWhileRevalidate: 10,
    staleIfError: 100,
  });
  await it.get();
  it.pass(65);
  const stale = await it.get();
  assertEquals(await stale.text(), "1");
  assertEquals(stale.headers.get("age"), "65");
  // The page's ETag is computed asynchronously on another thread.
  let text = "1";
  while (text === "1") {
    await new Promise((resolve) => setTimeout(resolve, 1));
    text = await (await it.get()).text();
  }
  assertEquals(text, "2");
  status = 503;
  it.pass(100);
  assertEquals(await (await it.get()).text(), "2");
  it.pass(100);
  const failed = await it.get();
  assertEquals([failed.status, await failed.text()], [503, "4"]);
});

Deno.test("A stale page ends with a refresh whose response isn't cached", async () => {
  const responses: Record<string, ResponseInit> = {
    "a refusal": { status: 403 },
    "a private page": { headers: { "cache-control": "private" } },
    "a page with a cookie": { headers: { "set-cookie": "a=b" } },
    "a page with a lifetime of 0": {
      headers: { "cache-control": "max-age=0" },
    },
  };
  for (const [name, init] of Object.entries(responses)) {
    const it = subject(
      (call) => new Response(`page ${call}`, call > 1 ? init : {}),
      { staleWhileRevalidate: 3_600 },
    );
    await it.get();
    it.pass(60);
    let response = await it.get();
    assertEquals(await response.text(), "page 1", name);
    // The body may be read on another thread.
    while (response.headers.get("age") !== null) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      response = await it.get();
    }
    assert(await response.text() !== "page 1", name);
    assertEquals(response.status, init.status ?? 200, name);
  }
});

Deno.test("A page that must be revalidated is never served stale", async () => {
  for (const name of ["must-revalidate", "Proxy-Revalidate"]) {
    const hub = new Hub();
    let time = 0;
    const open = (handle: () => Response) => {
      const cache = createCache({ store: hub.open(), now: () => time });
      const stale = { staleWhileRevalidate: 60, staleIfError: 60 };
      const app = createApp({ onError() {} })
        .use(cache.cacheResponse({ maxAge: 60, ...stale }))
        .route({ path: "/", handler: handle });
      return async () =>
        await (await app.fetch(new Request("http://localhost/"))).text();
    };
    let calls = 0;
    const headers = { "cache-control": `max-age=5, ${name}` };
    const get = open(() => new Response(`page ${++calls}`, { headers }));
    const elsewhere = open(() => new Response("down", { status: 503 }));
    assertEquals([await get(), await get()], ["page 1", "page 1"]);
    time += 5_000;
    // It has the page from the store, not from its memory.
    assertEquals(await elsewhere(), "down");
    assertEquals(await get(), "page 2", name);
  }
});

Deno.test("A failed refresh is reported, and the stale page stays", async () => {
  let status = 200;
  const it = subject((call) => new Response(`${call}`, { status }), {
    staleWhileRevalidate: 10,
  });
  await it.get();
  status = 502;
  it.pass(65);
  for (let i = 0; i < 2; i++) {
    assertEquals(await (await it.get()).text(), "1");
    await settle();
  }
  assertEquals(it.errors.map(String)[0], "Error: The page has status 502");
});

Deno.test("A request that can't get the stale page of another process reports its own error", async () => {
  const hub = new Hub();
  let time = 0;
  const errors: unknown[] = [];
  const open = (handler: () => Response) => {
    const cache = createCache({ store: hub.open(), now: () => time });
    const app = createApp({ onError: (error) => void errors.push(error) })
      .use(cache.cacheResponse({ maxAge: 1, staleIfError: 60 }))
      .route({ path: "/", handler });
    return (headers = {}) =>
      app.fetch(new Request("http://localhost/", { headers }));
  };
  await (await open(() => new Response("page"))()).text();
  time = 2_000;
  const failure = new Error("the database is away");
  const get = open(() => {
    throw failure;
  });
  assertEquals((await get({ authorization: "Bearer 1" })).status, 500);
  assertEquals(errors, [failure]);
});

Deno.test("A page whose stream has text instead of bytes is an error, not a page of zeros", async () => {
  const errors: unknown[] = [];
  const chunks: unknown[] = ["hello"];
  const app = createApp({ onError: (error) => void errors.push(error) })
    .use(createCache().cacheResponse({ maxAge: 60 }))
    .route({
      path: "/",
      handler: () =>
        new Response(ReadableStream.from(chunks) as ReadableStream<Uint8Array>),
    });
  const get = () => app.fetch(new Request("http://localhost/"));
  assertEquals((await get()).status, 500);
  assertMatch(String(errors), /must be bytes, received a string/);
  chunks[0] = new TextEncoder().encode("hello");
  assertEquals(await (await get()).text(), "hello");
});

Deno.test("HEAD is answered from the cached page and caches none", async () => {
  const it = subject(page);
  await (await it.get("/", { method: "HEAD" })).text();
  assertEquals(it.cache.stats().entries, 0);
  await it.get();
  const head = await it.get("/", { method: "HEAD" });
  assertEquals(it.calls, 2);
  assertEquals(await head.text(), "");
  assertEquals(head.headers.get("content-length"), "6");
  assert(head.headers.has("etag"));
});

Deno.test("Requests with no-store or Range bypass the cache", async () => {
  const it = subject(page);
  for (
    const headers of [{ "cache-control": "no-store" }, { range: "bytes=0-1" }]
  ) {
    await it.get("/", { headers });
  }
  assertEquals([it.calls, it.cache.stats().entries], [2, 0]);
});

Deno.test("A body too large to cache is sent completely", async () => {
  const size = 6 * 1024 * 1024;
  const it = subject(() => {
    let left = size / 1024;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (left-- === 0) controller.close();
          else controller.enqueue(new Uint8Array(1024).fill(7));
        },
      }),
    );
  });
  for (let i = 1; i <= 2; i++) {
    const bytes = await (await it.get()).bytes();
    assertEquals([bytes.length, bytes[0], bytes.at(-1)], [size, 7, 7]);
    assertEquals(it.calls, i);
  }
});

Deno.test("A client that cancels a body too large to cache cancels its source", async () => {
  const ended = Promise.withResolvers<unknown>();
  const it = subject(() =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
        cancel: ended.resolve,
      }),
    )
  );
  const { body } = await it.get();
  const reader = body!.getReader();
  await reader.read();
  await reader.cancel("enough");
  assertEquals(await ended.promise, "enough");
});

Deno.test("A page and its 304 are well-formed over a socket", async () => {
  const it = subject((call) =>
    Response.json({ call, text: "x".repeat(5_000) })
  );
  const server = await it.app.serve({ port: 0, onListen() {}, signals: false });
  const url = `http://127.0.0.1:${server.address.port}/page`;
  const first = await fetch(url);
  const { call } = await first.json();
  const etag = first.headers.get("etag")!;
  const again = await fetch(url, { headers: { "if-none-match": etag } });
  assertEquals([again.status, await again.text(), call], [304, "", 1]);
  const head = await fetch(url, { method: "HEAD" });
  assertEquals([head.status, await head.text()], [200, ""]);
  const redirect = await fetch(url);
  assertEquals((await redirect.json()).call, 1);
  await server.shutdown();
});

Deno.test("cacheResponse() rejects invalid options", () => {
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  const make = (options?: any) => () => cacheResponse(options);
  assertThrows(make({}), TypeError, "maxAge must be a number of seconds");
  for (const wrong of [-1, false, Infinity, NaN, "60"]) {
    const received = typeof wrong === "string" ? '"60"' : `${wrong}`;
    for (const name of ["maxAge", "clientMaxAge"]) {
      assertThrows(
        make({ maxAge: 1, [name]: wrong }),
        TypeError,
        `Cannot create response cache: ${name} must be a number of seconds, 0 or more, received ${received}`,
      );
    }
  }
  assertThrows(
    make({ maxAge: 1, vary: "a" }),
    TypeError,
    "vary must be an array",
  );
  assertThrows(make({ maxAge: 1, tags: [1] }), TypeError, "tags[0]");
  assertThrows(
    make({ maxAge: 1, clientMaxAge: -1 }),
    TypeError,
    "clientMaxAge",
  );
  assertThrows(
    make(),
    TypeError,
    "options must be an object, as in { maxAge: 60 }, received undefined",
  );
});

Deno.test("Nested uses of a cache store each page once", async () => {
  const { cache } = timedCache();
  let made = 0;
  const inner = createApp().use(cache.cacheResponse({ maxAge: 60 }));
  inner.route({ path: "/", handler: () => new Response(`page ${++made}`) });
  const other = createCache();
  const app = createApp()
    .use(cache.cacheResponse({ maxAge: 60 }))
    .use(other.cacheResponse({ maxAge: 60 }))
    .use((request) => inner.fetch(request));
  for (let i = 0; i < 2; i++) {
    const response = await app.fetch(new Request("http://localhost/"));
    assertEquals(await response.text(), "page 1");
  }
  assertEquals(cache.stats().entries, 1);
});
