import { assert, assertEquals, assertMatch } from "@std/assert";
import type { App } from "@quartet/kit/app";
import { createAtlas } from "../../examples/atlas/atlas.ts";

/** The demo with an in-memory database. It's closed at the end of its block. */
function atlas(): AsyncDisposable & {
  app: App;
  page(path: string): Promise<{ status: number; text: string; type: string }>;
} {
  const app = createAtlas({ database: ":memory:" });
  return {
    app,
    async page(path) {
      const response = await app.fetch(new Request(`http://localhost${path}`));
      return {
        status: response.status,
        text: await response.text(),
        type: response.headers.get("content-type")!,
      };
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

/** Returns the names of the countries that a page lists. */
function listed(html: string): string[] {
  return [...html.matchAll(/<a href="\/countries\/[A-Z]{3}">\S* (.+?)<\/a>/g)]
    .map(([, name]) => name!);
}

async function search(query: string): Promise<string[]> {
  await using demo = atlas();
  const path = `/?q=${encodeURIComponent(query)}`;
  const { status, text } = await demo.page(path);
  assertEquals(status, 200);
  const names = listed(text);
  const count = names.length === 1 ? "1 country" : `${names.length} countries`;
  assert(text.includes(`<p>${count}</p>`), `it says ${count}`);
  return names;
}

Deno.test("The list shows all countries by name", async () => {
  await using demo = atlas();
  const { status, text, type } = await demo.page("/");
  assertEquals([status, type], [200, "text/html; charset=utf-8"]);
  assertMatch(text, /^<!DOCTYPE html><html lang="en">/);
  const names = listed(text);
  assertEquals(names.length, 250);
  const plain = names.filter((name) => /^[A-Za-z ]+$/.test(name));
  assertEquals(plain[0], "Afghanistan");
  assertEquals(plain, plain.toSorted());
});

Deno.test("The search finds part of a name or a capital, in any case", async () => {
  assertEquals(await search("NETHERL"), [
    "Caribbean Netherlands",
    "Netherlands",
  ]);
  assertEquals(await search("canberra"), ["Australia"]);
  assertEquals(await search("guinea"), [
    "Equatorial Guinea",
    "Guinea",
    "Guinea-Bissau",
    "Papua New Guinea",
  ]);
  assertEquals(await search("nowhere at all"), []);
});

Deno.test("The search takes every character literally", async () => {
  for (
    const query of ["%", "_", "a%a", "\\", "\\%", "x' OR '1'='1", '"', "--"]
  ) {
    assertEquals(await search(query), [], query);
  }
  // Some capitals contain these characters.
  assertEquals(await search("st. g"), ["Grenada"]);
  assertEquals(await search("n'd"), ["Chad"]);
});

Deno.test("The search shows the search term as text", async () => {
  await using demo = atlas();
  const query = `<script>alert(1)</script>"'&`;
  const { text } = await demo.page(`/?q=${encodeURIComponent(query)}`);
  assert(!text.includes("<script>"), "the term isn't markup");
  assertMatch(text, /value="&lt;script>alert\(1\)&lt;\/script>&quot;'&amp;"/);
});

Deno.test("A country's page shows its facts and its neighbours", async () => {
  await using demo = atlas();
  const { status, text } = await demo.page("/countries/CHE");
  assertEquals(status, 200);
  assertMatch(text, /<title>Switzerland – Atlas<\/title>/);
  assertMatch(text, /<h1>🇨🇭 Switzerland<\/h1>/);
  assertMatch(text, /<dt>Capital<\/dt><dd>Bern<\/dd>/);
  assertMatch(text, /<dt>Currency<\/dt><dd>Swiss franc<\/dd>/);
  assertMatch(text, /<dt>Area<\/dt><dd>41,284 km²<\/dd>/);
  assertEquals(listed(text), [
    "Austria",
    "France",
    "Germany",
    "Italy",
    "Liechtenstein",
  ]);
});

Deno.test("A country's code may be in lower case", async () => {
  await using demo = atlas();
  const upper = await demo.page("/countries/ISL");
  const lower = await demo.page("/countries/isl");
  // Only the return address in the sign-in link differs.
  assertEquals(lower.text.replaceAll("%2Fisl", "%2FISL"), upper.text);
  assertMatch(lower.text, /No land borders\./);
});

Deno.test("Every country of the list and every neighbour has a page", async () => {
  await using demo = atlas();
  const { text } = await demo.page("/");
  const links = new Set(text.match(/\/countries\/[A-Z]{3}/g));
  assertEquals(links.size, 250);
  const neighbours = new Set<string>();
  for (const link of links) {
    const page = await demo.page(link);
    assertEquals(page.status, 200, link);
    assert(!/undefined|null|NaN/.test(page.text), link);
    for (const other of page.text.match(/\/countries\/[A-Z]{3}/g) ?? []) {
      neighbours.add(other);
    }
  }
  assertEquals(neighbours.difference(links), new Set());
});

Deno.test("An unknown country is a 404 page with a link back", async () => {
  await using demo = atlas();
  for (const code of ["ZZZ", "CHE'--", "%25", "%3Cscript%3E", "__proto__"]) {
    const { status, text, type } = await demo.page(`/countries/${code}`);
    assertEquals([status, type], [404, "text/html; charset=utf-8"], code);
    assertMatch(text, /<h1>No such country<\/h1>/);
    assertMatch(text, /<a href="\/">/);
    assert(!text.includes("<script>"));
  }
});

Deno.test("The API returns countries as JSON, filtered by the same search", async () => {
  await using demo = atlas();
  const all = await demo.page("/api/countries");
  assertEquals(all.type, "application/json");
  assertEquals(JSON.parse(all.text).length, 250);
  const { text } = await demo.page("/api/countries?q=bern");
  assertEquals(JSON.parse(text), [
    { code: "CHE", name: "Switzerland", flag: "🇨🇭", region: "Europe" },
  ]);
});

Deno.test("The pages have a style sheet", async () => {
  await using demo = atlas();
  const { status, text, type } = await demo.page("/style.css");
  assertEquals([status, type], [200, "text/css; charset=utf-8"]);
  assertMatch(text, /\{/);
});
