import { createApp } from "@quartet/kit/app";
import { createCache, tags } from "@quartet/kit/data";
import { assertAllLinear, numbered, repeat, silently, TEXTS } from "./texts.ts";
import type { Text } from "./texts.ts";

/** Nests values as deeply as the text is long. */
function nested(length: number, around: (value: unknown) => unknown): unknown {
  let value: unknown = "inside";
  for (let i = 0; i < length; i++) value = around(value);
  return value;
}

const entries = (length: number) =>
  Array.from({ length: length / 10 }, (_, i) => [`key ${i}`, i] as const);

const VALUES: Readonly<Record<string, (length: number) => unknown>> = {
  "nested arrays": (n) => nested(Math.min(n / 100, 900), (value) => [value]),
  "nested objects": (n) => nested(Math.min(n / 100, 900), (a) => ({ a })),
  "deeply nested arrays": (n) => nested(n, (value) => [value]),
  "a wide object": (n) => Object.fromEntries(entries(n)),
  "an object in reverse order": (n) =>
    Object.fromEntries(entries(n).toReversed()),
  "an array": (n) => new Array(n / 2).fill(1),
  "a sparse array": (n) => Object.assign([], { [n]: 1 }),
  "a Map": (n) => new Map(entries(n)),
  "a Set": (n) => new Set(entries(n).map(([key]) => key)),
  "a Map of objects": (n) =>
    new Map(entries(n).map(([key, value]) => [{ key }, { value }])),
  "a Set of objects": (n) => new Set(entries(n).map(([key]) => ({ key }))),
  "a Set of Sets": (n) => new Set(entries(n).map(([key]) => new Set([key]))),
  "bytes": (n) => new Uint8Array(n),
  "the same object, many times": (n) => {
    const same = { a: 1 };
    return new Array(n / 10).fill(same);
  },
  "a bigint": (n) => 10n ** BigInt(n / 100),
  "dates": (n) => entries(n).map(([, i]) => new Date(i)),
};

Deno.test("A long argument of a cached function takes linear time", async () => {
  await using cache = createCache();
  const fn = cache.unstable_cache((_: unknown) => Promise.resolve(1), ["fn"]);
  await assertAllLinear("a text", TEXTS, (text) => fn(text));
  const numberedTexts = [numbered((i) => `${i},`)];
  await assertAllLinear(
    "texts",
    numberedTexts,
    (list: string[]) => fn(list),
    { prepare: (text) => text.split(",") },
  );
});

for (const [name, make] of Object.entries(VALUES)) {
  Deno.test(`${name} as an argument of a cached function takes linear time`, async () => {
    await using cache = createCache();
    const fn = cache.unstable_cache((_: unknown) => Promise.resolve(1), ["fn"]);
    await assertAllLinear(name, [repeat("a")], async (value: unknown) => {
      try {
        await fn(value);
      } catch {
        // Values that are nested too deeply have no key.
      }
    }, { prepare: (text) => make(text.length) });
  });
}

const PATHS: readonly Text[] = [
  ...TEXTS,
  numbered((i) => `/${i}`),
  ...["%2e", "%2E%2e/", "%2f", "*/", "/*", "/**", "//", "é", "?a", "a/../"]
    .map((text) => repeat(text)),
];

Deno.test("A long tag or path to invalidate takes linear time", () =>
  silently(async () => {
    await using cache = createCache();
    const page = cache.unstable_cache(() => Promise.resolve(1), ["page"], {
      tags: ["a"],
    });
    await page();
    await assertAllLinear("revalidateTag()", PATHS, async (text) => {
      try {
        await cache.revalidateTag(text);
        await cache.revalidateTag(tags.resource(text, text));
        await cache.revalidateTag(tags.userScoped(text, text));
      } catch {
        // The text isn't a valid tag.
      }
    });
    await assertAllLinear("revalidatePath()", PATHS, async (text) => {
      for (const path of [text, `/${text}`, `/${text}/*`]) {
        try {
          await cache.revalidatePath(path);
        } catch {
          // The text isn't a valid path.
        }
      }
    });
  }));

Deno.test("A value used at a long path takes linear time, whatever was invalidated", async () => {
  await using cache = createCache();
  const part = cache.unstable_cache(() => Promise.resolve(1), ["part"]);
  const app = createApp().use(async () => {
    for (let i = 0; i < 5; i++) await part();
    return new Response();
  });
  const before = ["/blog/*", "/blog/1", "/%61/%2f/*"];
  const long = [`/${"a/".repeat(20_000)}*`];
  // More than are remembered exactly.
  const many = Array.from({ length: 100_001 }, (_, i) => `/p/${i}/*`);
  for (const paths of [before, long, many]) {
    await cache.revalidate({ paths });
    await assertAllLinear("a path", PATHS, async (request: Request) => {
      await (await app.fetch(request)).body?.cancel();
    }, { prepare: (text) => new Request(`http://localhost/${text}`) });
  }
});

Deno.test("Many tags and paths to invalidate take linear time", async () => {
  await using cache = createCache();
  const texts = [numbered((i) => `/path/${i} `), repeat("/a "), repeat("/* ")];
  await assertAllLinear("revalidate()", texts, async (list: string[]) => {
    await cache.revalidate({ tags: list });
    await cache.revalidate({ paths: list });
  }, { prepare: (text) => text.trim().split(" ").filter((a) => a.length > 1) });
});

Deno.test("Long key parts take linear time", async () => {
  await using cache = createCache();
  await assertAllLinear("keyParts", TEXTS, async (text) => {
    await cache.unstable_cache(() => Promise.resolve(1), [text, text])();
  });
});
