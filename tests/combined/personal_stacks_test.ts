import { assertEquals } from "@std/assert";
import { createAuthPlugin, credentials } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import type { CacheResponseOptions } from "@quartet/kit/data";
import { STACKS } from "./personal_stacks.ts";
import type { Fetch, Stack } from "./personal_stacks.ts";

const ORIGIN = "http://localhost";

/** A user with a browser that keeps cookies and returns a page's content. */
class Visitor {
  cookie: string | undefined;
  readonly #fetch: Fetch;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  async get(path: string): Promise<[text: string, control: string | null]> {
    const response = await this.#send(path, "GET");
    const text = await response.text();
    return [
      response.status === 200 ? text : String(response.status),
      response.headers.get("cache-control"),
    ];
  }

  async post(path: string): Promise<number> {
    const response = await this.#send(path, "POST");
    await response.body?.cancel();
    const [cookie] = response.headers.getSetCookie();
    if (cookie !== undefined) this.cookie = cookie.split(";")[0]!;
    return response.status;
  }

  async #send(path: string, method: string): Promise<Response> {
    const headers: HeadersInit = this.cookie === undefined
      ? {}
      : { cookie: this.cookie };
    return await this.#fetch(new Request(ORIGIN + path, { method, headers }));
  }
}

function setUp(stack: Stack, options: Partial<CacheResponseOptions> = {}) {
  const cache = createCache();
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [credentials({ authorize: ({ id }) => ({ id: String(id) }) })],
  });
  const fetch = stack(auth, cache.cacheResponse({ maxAge: 60, ...options }));
  return { cache, fetch, visitor: () => new Visitor(fetch) };
}

for (const [name, stack] of Object.entries(STACKS)) {
  Deno.test(`${name}: a personal page reaches only its user`, async () => {
    const { visitor } = setUp(stack);
    const [ada, bob, nobody] = [visitor(), visitor(), visitor()];
    await ada.post("/sign-in/ada");
    await bob.post("/sign-in/bob");
    for (let round = 0; round < 3; round++) {
      for (const path of ["/account", "/hello"]) {
        assertEquals(await ada.get(path), ["ada", "private"]);
        const [text, control] = await nobody.get(path);
        assertEquals(text, path === "/account" ? "401" : "anonymous");
        if (path === "/hello") assertEquals(control, "private");
        assertEquals(await bob.get(path), ["bob", "private"]);
      }
    }
  });

  Deno.test(`${name}: a page that doesn't read the user is shared`, async () => {
    const { visitor, cache } = setUp(stack);
    const [ada, nobody] = [visitor(), visitor()];
    await ada.post("/sign-in/ada");
    for (let round = 0; round < 3; round++) {
      for (const who of [nobody, ada]) {
        assertEquals(await who.get("/news"), ["news", "public, max-age=60"]);
      }
    }
    assertEquals(cache.stats().entries, 1);
    assertEquals(cache.stats().misses, 1);
  });

  Deno.test(`${name}: only an unsafe request accepted by a guard invalidates`, async () => {
    const { visitor, cache } = setUp(stack);
    const [ada, nobody] = [visitor(), visitor()];
    await ada.post("/sign-in/ada");
    await nobody.get("/news");
    const isKept = async () => {
      const { misses } = cache.stats();
      await nobody.get("/news");
      return cache.stats().misses === misses;
    };
    assertEquals(await nobody.post("/news"), 303);
    const forged = visitor();
    forged.cookie = "app.session=forged";
    assertEquals(await forged.post("/news"), 303);
    assertEquals(await isKept(), true);
    assertEquals(await ada.post("/news"), 200);
    assertEquals(await isKept(), false);
  });
}
