import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import type { RequestContext } from "@quartet/kit/app";
import * as data from "@quartet/kit/data";
import { createCache, createMemoryStore } from "@quartet/kit/data";
import type {
  Cache,
  RevalidateOptions,
  RevalidateResult,
} from "@quartet/kit/data";
import { startDeno } from "../helpers.ts";
import { counter, settle, timedCache } from "./helpers.ts";
import { RequestScope, runInScope } from "../../core/request_scope.ts";

/** Whether an invalidation removes a value with these tags and paths. */
async function takes(
  options: RevalidateOptions,
  scopes: { tags?: string[]; paths?: string[] },
): Promise<boolean> {
  const { cache } = timedCache();
  const fn = counter();
  const load = () => cache.cached("k", fn, { maxAge: 60, ...scopes });
  await load();
  await cache.revalidate(options);
  return await load() === 2;
}

Deno.test("revalidateTag() invalidates only values with that tag", async () => {
  assert(await takes({ tags: ["a"] }, { tags: ["a"] }));
  assert(await takes({ tags: ["x", "a"] }, { tags: ["b", "a", "c"] }));
  assert(!await takes({ tags: ["a"] }, { tags: ["ab", "A", "a:b", "/a"] }));
  assert(!await takes({ tags: ["a"] }, { paths: ["/a"] }));
  assert(!await takes({ tags: ["/a"] }, { paths: ["/a"] }));
  assert(!await takes({}, { tags: ["a"], paths: ["/"] }));
  assert(!await takes({ all: false }, { tags: ["a"] }));
  assert(await takes({ all: true }, {}));
  assert(await takes({ tags: ["__proto__"] }, { tags: ["__proto__"] }));
  assert(await takes({ tags: ["\ud800"] }, { tags: ["\ud800"] }));
  assert(!await takes({ tags: ["\ud800"] }, { tags: ["?", "x"] }));
});

const DEEP = "/a".repeat(400);

Deno.test("revalidatePath() invalidates an exact path, or everything below one with /*", async () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["/posts", "/posts", true],
    ["/posts/", "/posts", true],
    ["/posts", "/posts/", true],
    ["/posts///", "/posts", true],
    ["/posts?page=2#top", "/posts", true],
    ["/posts", "/posts?page=2", true],
    ["/posts", "/posts/1", false],
    ["/posts", "/", false],
    ["/", "/", true],
    ["/", "/posts", false],
    ["/posts/*", "/posts/1", true],
    ["/posts/*", "/posts/1/comments", true],
    ["/posts/*", "/posts/1/", true],
    ["/posts/*", "/postscript", false],
    ["/posts/*", "/posts", false],
    ["/posts/*", "/blog/posts/1", false],
    ["/posts/1/*", "/posts/1/comments/2", true],
    ["/posts/1/*", "/posts/12/comments", false],
    ["/posts/*?x", "/posts/1", true],
    ["/*", "/", true],
    ["/*", "/posts/1", true],
    ["/a/*/b", "/a/x/b", false],
    ["/a/*/b", "/a/*/b", true],
    ["/café", "/caf%C3%A9", true],
    ["/caf%c3%a9", "/café", true],
    ["/%70osts", "/posts", true],
    ["/a%2fb", "/a%2Fb", true],
    ["/a%2Fb", "/a/b", false],
    ["/a/../posts", "/posts", true],
    ["//host/x", "//host/x", true],
    ["/.well-known/*", "/.well-known/x.json", true],
    ["/Posts", "/posts", false],
    ["/a b ?page=2", "/a%20b%20", true],
    ["/a ", "/a", true],
    ["/users/ada@x.org", "/users/ada%40x.org", true],
    ["/users/ada%40x.org", "/users/ada@x.org", true],
    ["/users/ada@x.org/*", "/users/ada%40x.org/posts", true],
    ["/%3a%40/*", "/:@/x", true],
    ["/a|b^c[d]e'f!g(h)i*j", "/a%7Cb%5ec%5Bd%5De%27f%21g%28h%29i%2Aj", true],
    ["/a%7cb%5Ec%5bd%5de%27f%21g%28h%29i%2aj", "/a|b^c[d]e'f!g(h)i*j", true],
    ["/$&+,;=", "/%24%26%2B%2C%3B%3D", true],
    ['/a"b<c>d`e{f}', "/a%22b%3Cc%3Ed%60e%7Bf%7D", true],
    ["/a b+c", "/a%20b%2bc", true],
    ["/a+b", "/a%20b", false],
    ["/a%2540b", "/a%40b", false],
    ["/a%2540b", "/a@b", false],
    ["/a%25b", "/a%b", false],
    ["/a%25b", "/a%25b", true],
    ["/a%3Fb", "/a", false],
    ["/a%3fb", "/a%3Fb", true],
    ["/a%23b", "/a%23b", true],
    ["/a%5Cb", "/a/b", false],
    ["/a%2Fb/*", "/a/b/c", false],
    ["/a%2f@/*", "/a%2F%40/c", true],
    ["/%ff%40", "/%FF@", true],
    ["/%c3@", "/%C3%40", true],
    ["/%00@", "/%00%40", true],
    ["/%e2%82%ac", "/€", true],
    ["/%", "/%", true],
    ["/%4", "/%4", true],
    ["/é", "/e%CC%81", false],
    [`/posts${DEEP}/*`, `/posts${DEEP}/1`, true],
    // Of a prefix that is too long, only the beginning counts.
    [`/posts${DEEP}/*`, `/posts${DEEP}`, true],
    [`/posts${DEEP}/*`, "/posts/a", false],
    [`/posts${DEEP}/*`, "/", false],
    [`/posts/${"a".repeat(600)}/*`, "/posts/b", true],
    [`/posts/${"a".repeat(600)}/*`, "/posts", false],
    [`/posts/${"a".repeat(600)}`, `/posts/${"a".repeat(600)}`, true],
    [`/posts/${"a".repeat(600)}`, `/posts/${"a".repeat(599)}b`, false],
  ];
  for (const [pattern, path, expected] of cases) {
    const taken = await takes({ paths: [pattern] }, { paths: [path] });
    assertEquals(taken, expected, `${pattern} and ${path}`);
  }
});

Deno.test("revalidate() rejects invalid input with a rejected promise", async () => {
  const { cache } = timedCache();
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  const revalidate = (options: any) => cache.revalidate(options);
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, "options must be an object"],
    [null, "received null"],
    [[], "received an array"],
    ["posts", 'received "posts"'],
    [{ tags: "posts" }, 'tags must be an array of strings, received "posts"'],
    [{ tags: [1] }, "tags[0] must be a non-empty string, received 1"],
    [{ tags: ["a", ""] }, "tags[1] must be a non-empty string"],
    [{ tags: null }, "tags must be an array of strings, received null"],
    [{ tags: { length: 1, 0: "a" } }, "received an object"],
    [{ paths: "/" }, 'paths must be an array of strings, received "/"'],
    [{ paths: ["posts"] }, 'a path must begin with "/", received "posts"'],
    [{ paths: ["*"] }, 'a path must begin with "/", received "*"'],
    [{ paths: ["/posts*"] }, 'must end in "/*"'],
    [{ paths: ["https://x/"] }, 'must begin with "/"'],
    [{ all: "false" }, 'all must be true or false, received "false"'],
    [{ all: 1 }, "received 1"],
    [
      { tag: ["a"] },
      'unknown option "tag"; did you mean tags? Known options: tags, paths, all',
    ],
  ];
  const fn = counter();
  const load = () => cache.cached("k", fn, { maxAge: 60, tags: ["p", "o"] });
  await load();
  for (const [options, message] of cases) {
    await assertRejects(() => revalidate(options), TypeError, message);
  }
  assertEquals(await load(), 1, "nothing was taken");
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  await assertRejects(() => cache.revalidateTag(1 as any), TypeError);
  await assertRejects(() => cache.revalidatePath("posts"), TypeError);
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  await assertRejects(() => cache.onDemandRevalidate(null as any), TypeError);
});

/** Creates a function that waits until it's released. */
function gated() {
  const gates: PromiseWithResolvers<string>[] = [];
  return {
    gates,
    fn: () => {
      gates.push(Promise.withResolvers());
      return gates.at(-1)!.promise;
    },
  };
}

const INVALIDATIONS: Record<string, (cache: Cache) => Promise<unknown>> = {
  "its tag": (cache) => cache.revalidateTag("a"),
  "its path": (cache) => cache.revalidatePath("/posts/1"),
  "a prefix of its path": (cache) => cache.revalidatePath("/posts/*"),
  "everything": (cache) => cache.revalidate({ all: true }),
};

for (const [name, invalidate] of Object.entries(INVALIDATIONS)) {
  Deno.test(`A computation that began before ${name} was invalidated is never fresh, and nobody joins it`, async () => {
    const { cache } = timedCache();
    const { gates, fn } = gated();
    const load = () =>
      cache.cached("k", fn, { maxAge: 60, tags: ["a"], paths: ["/posts/1"] });
    const before = load();
    const joined = load();
    await invalidate(cache);
    const after = load();
    assertEquals(gates.length, 2);
    gates[1]!.resolve("new");
    assertEquals(await after, "new");
    // The old computation ends last and still isn't cached.
    gates[0]!.resolve("old");
    assertEquals([await before, await joined], ["old", "old"]);
    assertEquals(await load(), "new");
    assertEquals(gates.length, 2);
  });

  Deno.test(`A computation that began before ${name} was invalidated isn't cached if it ends first`, async () => {
    const { cache } = timedCache();
    const { gates, fn } = gated();
    const load = () =>
      cache.cached("k", fn, { maxAge: 60, tags: ["a"], paths: ["/posts/1"] });
    const before = load();
    await invalidate(cache);
    gates[0]!.resolve("old");
    assertEquals(await before, "old");
    assertEquals(cache.stats().entries, 0, "it wasn't cached");
    const after = load();
    gates[1]!.resolve("new");
    assertEquals(await after, "new");
  });

  Deno.test(`A background refresh that began before ${name} was invalidated isn't cached`, async () => {
    const { cache, pass } = timedCache();
    const { gates, fn } = gated();
    const load = () =>
      cache.cached("k", fn, {
        maxAge: 60,
        staleWhileRevalidate: 60,
        staleIfError: 600,
        tags: ["a"],
        paths: ["/posts/1"],
      });
    const first = load();
    gates[0]!.resolve("first");
    await first;
    pass(61);
    assertEquals(await load(), "first", "stale, refreshed in the background");
    assertEquals(gates.length, 2);
    await invalidate(cache);
    const after = load();
    assertEquals(gates.length, 3, "the caller waits for a fresh computation");
    gates[1]!.resolve("second");
    await settle();
    gates[2]!.resolve("third");
    assertEquals([await after, await load()], ["third", "third"]);
    assertEquals(gates.length, 3);
  });
}

Deno.test("An invalidated stale value isn't returned, even on errors", async () => {
  const { cache, pass } = timedCache();
  let fails = false;
  const load = () =>
    cache.cached("k", () => {
      if (fails) throw new Error("down");
      return "old";
    }, {
      maxAge: 60,
      staleIfError: 600,
      staleWhileRevalidate: 10,
      tags: ["a"],
    });
  await load();
  fails = true;
  pass(61);
  assertEquals(await load(), "old");
  await cache.revalidateTag("a");
  await assertRejects(load, Error, "down");
});

Deno.test("revalidatePath() invalidates values used in requests for the path", async () => {
  const cache = createCache();
  const fn = counter();
  const load = cache.unstable_cache(fn, ["x"]);
  const app = createApp({
    routes: [{ path: "/posts/:id", loader: async () => ({ n: await load() }) }],
  });
  const get = async (path: string): Promise<number> => {
    const response = await app.fetch(new Request(`http://localhost${path}`));
    return (await response.json()).n;
  };
  assertEquals([await get("/posts/1"), await get("/posts/1/?a=b")], [1, 1]);
  await cache.revalidatePath("/posts/2", "/posts", "/posts/1/*");
  assertEquals(await get("/posts/1"), 1);
  await cache.revalidatePath("/posts/1");
  assertEquals(await get("/posts/1"), 2);
  await cache.revalidatePath("/posts/*");
  assertEquals(await get("/posts/1"), 3);
  // It was computed for another path, but this path used it too.
  assertEquals(await get("/posts/2"), 3);
  await cache.revalidatePath("/posts/2");
  assertEquals(await get("/posts/2"), 4);
  assertEquals(await load(), 4);
});

Deno.test("A change of a page invalidates it at each spelling of its path", async () => {
  const users = new Map<string, string>();
  const cache = createCache();
  const load = cache.cacheFunction((id: string) => users.get(id), ["user"]);
  const app = createApp({
    routes: [{
      path: "/users/:id",
      loader: async ({ params }) => await load(params["id"]!) ?? "gone",
      action: ({ params }) => void users.delete(params["id"]!),
    }, {
      path: "/revalidate/:id",
      action: async ({ params }) => {
        users.delete(params["id"]!);
        await cache.revalidatePath(`/users/${params["id"]}`);
      },
    }],
  }).use(cache.cacheResponse({ maxAge: 60 }));
  const send = async (path: string, method = "GET") => {
    const request = new Request(`http://localhost${path}`, { method });
    const response = await app.fetch(request);
    return response.status === 204 ? undefined : await response.json();
  };
  for (const id of ["ada@x.org", "a:b", "a|b", "[a]", "a'b", "é", "a b"]) {
    const encoded = encodeURIComponent(id);
    const escaped = Array.from(
      new TextEncoder().encode(id),
      (byte) => `%${byte.toString(16).padStart(2, "0")}`,
    ).join("");
    for (const changed of ["users", "revalidate"]) {
      for (const spelling of [id, encoded, escaped]) {
        users.set(id, id);
        for (const each of [id, encoded, escaped]) {
          await cache.revalidate({ all: true });
          assertEquals(await send(`/users/${each}`), id);
          users.set(id, id);
          await send(`/${changed}/${spelling}`, "DELETE");
          assertEquals(await send(`/users/${each}`), "gone", each);
          users.set(id, id);
        }
      }
    }
  }
});

Deno.test("Values used outside an HTTP request have no path", async () => {
  const { cache } = timedCache();
  const fn = counter();
  const load = () => cache.cached("k", fn, { maxAge: 60, tags: ["a"] });
  const contexts: object[] = [{}, { request: {} }, { req: { url: 5 } }];
  for (const more of contexts) {
    const context = { get() {}, set() {}, ...more };
    const scope = new RequestScope(context as RequestContext, undefined);
    assertEquals(await runInScope(scope, load), 1);
    await cache.revalidatePath("/", "/*");
    assertEquals(await runInScope(scope, load), 1);
  }
  await cache.revalidateTag("a");
  assertEquals(await load(), 2);
});

Deno.test("Forgotten scopes cause extra computations, never a stale value", async () => {
  const cache = createCache({
    store: createMemoryStore({ maxScopes: 10, maxEntries: 1_000 }),
  });
  const versions = new Map<string, number>();
  const load = (name: string) =>
    cache.cached(name, () => versions.get(name) ?? 0, {
      maxAge: 60,
      tags: [`t${name}`],
    });
  for (let i = 0; i < 100; i++) await load(`${i}`);
  for (let i = 0; i < 100; i++) {
    versions.set(`${i}`, 1);
    await cache.revalidateTag(`t${i}`);
  }
  for (let i = 0; i < 100; i++) assertEquals(await load(`${i}`), 1);
  const { misses } = cache.stats();
  for (let i = 0; i < 100; i++) assertEquals(await load(`${i}`), 1);
  assertEquals(cache.stats().misses, misses, "all are fresh again");
});

Deno.test("The store remembers at most maxScopes scopes of each kind", async () => {
  const store = createMemoryStore({ maxScopes: 10 });
  const cache = createCache({ store });
  for (let i = 0; i < 100; i++) {
    await cache.revalidateTag(`${i}`);
    await cache.revalidatePath(`/${i}`, `/${i}/*`);
    const { size } = store.invalidations;
    if (i < 5) assertEquals(size, 3 * (i + 1));
    else assert(size >= 15 && size <= 30, `${size}`);
  }
});

Deno.test("400 invalidations of long names leave no memory behind", async () => {
  await using child = startDeno([
    "run",
    "-A",
    "--v8-flags=--expose-gc",
    "tests/data/invalidation_memory.ts",
  ]);
  assertEquals(await child.code, 0, child.stderr);
  const { names, growth } = JSON.parse(child.stdout);
  assertEquals(names, 400);
  // Half of the characters of a round's 50 names of one kind.
  assertLess(growth, 5_000_000);
});

Deno.test("One call invalidates 100,000 names", async () => {
  const names = (start: string) =>
    Array.from({ length: 100_000 }, (_, i) => `${start}${i}`);
  const fn = counter();
  const options = { maxAge: 60, tags: ["t9"], paths: ["/9", "/x9/1"] };
  type Names = Pick<
    Cache,
    | "cached"
    | "revalidate"
    | "revalidateTag"
    | "revalidatePath"
    | "onDemandRevalidate"
  >;
  const calls: ((cache: Names) => Promise<RevalidateResult>)[] = [
    (cache) => cache.revalidateTag(...names("t")),
    (cache) => cache.revalidatePath(...names("/")),
    (cache) => cache.revalidatePath(...names("/x").map((path) => `${path}/*`)),
    (cache) => cache.onDemandRevalidate(...names("/")),
    (cache) => cache.onDemandRevalidate(...names("t")),
    (cache) => cache.revalidate({ tags: names("t") }),
  ];
  for (const cache of [data, createCache()]) {
    for (const call of calls) {
      const before = await cache.cached("100,000 names", fn, options);
      const { success, revalidated } = await call(cache);
      assert(success);
      assertEquals(revalidated.tags.length + revalidated.paths.length, 100_000);
      const after = await cache.cached("100,000 names", fn, options);
      assertEquals(after, before + 1);
    }
  }
});

Deno.test("A late invalidation from another process still invalidates a value", async () => {
  const store = createMemoryStore();
  const cache = createCache({ store });
  const fn = counter();
  const load = () =>
    cache.cached("k", fn, { maxAge: 60, tags: ["a"], paths: ["/p"] });
  await load();
  store.invalidations.invalidate({ tags: ["other"] }, 10);
  assertEquals(await load(), 1);
  store.invalidations.invalidate({ tags: ["a"] }, 7);
  assertEquals(await load(), 2);
  // The computation began after number 10 was received, so after 8 and 9.
  store.invalidations.invalidate({ tags: ["a"], paths: ["/p"] }, 9);
  assertEquals(await load(), 2);
  store.invalidations.raiseFloor(11);
  assertEquals(await load(), 3);
});

Deno.test("Random invalidations among random calls never leave a stale value", async () => {
  let seed = 7;
  const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  const store = createMemoryStore({ maxScopes: 20, maxEntries: 50 });
  const cache = createCache({ store });
  const version = { tag: new Array(30).fill(0), path: new Array(30).fill(0) };
  let all = 0;
  const pending: (() => void)[] = [];
  const current = (i: number) =>
    `${version.tag[i % 30]} ${version.path[i % 7]} ${all}`;
  for (let step = 0; step < 20_000; step++) {
    const i = random(100);
    const choice = random(20);
    if (choice === 0) {
      version.tag[i % 30]++;
      await cache.revalidateTag(`${i % 30}`);
    } else if (choice === 1) {
      version.path[i % 7]++;
      await cache.revalidatePath(
        `/p/${i % 7}/*`,
      );
    } else if (choice === 2 && step % 50 === 0) {
      all++;
      await cache.revalidate({ all: true });
    } else if (choice < 8) {
      // A slow computation, whose input may be outdated when it ends.
      const gate = Promise.withResolvers<void>();
      pending.push(gate.resolve);
      cache.cached(`${i}`, async () => {
        const read = current(i);
        await gate.promise;
        return read;
      }, { maxAge: 60, tags: [`${i % 30}`], paths: [`/p/${i % 7}/x`] });
      if (pending.length > 20) { for (const go of pending.splice(0, 10)) go(); }
    } else {
      for (const go of pending.splice(0)) go();
      await settle();
      const value = await cache.cached(`${i}`, () => current(i), {
        maxAge: 60,
        tags: [`${i % 30}`],
        paths: [`/p/${i % 7}/x`],
      });
      assertEquals(value, current(i), `step ${step}`);
    }
  }
  for (const go of pending) go();
  await settle();
  const { hits, misses } = cache.stats();
  assert(hits > 1_000 && misses > 1_000, `${hits} hits, ${misses} misses`);
});
