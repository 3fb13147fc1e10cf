import { assert, assertEquals, assertMatch } from "@std/assert";
import { serveAtlas } from "./serve_atlas.ts";
import type { Visitor } from "./serve_atlas.ts";

const EDIT = "/admin/countries/CHE";

async function capital(visitor: Visitor): Promise<string> {
  const { text } = await visitor.open("/countries/CHE");
  return /<dt>Capital<\/dt><dd>(.*?)<\/dd>/.exec(text)![1]!;
}

Deno.test("The first user becomes the admin, sees a message about it, and may edit", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  assertMatch((await visitor.open("/sign-up")).text, /you will be the admin/);
  assertEquals(await capital(visitor), "Bern");

  const admin = await atlas.signUp("Ada");
  const page = await admin.open("/countries/CHE");
  assertMatch(page.text, /<a href="\/admin\/countries\/CHE">Edit Switzerland</);
  assertMatch(
    (await admin.open(EDIT)).text,
    /name="capital" value="Bern"|value="Bern"[^>]*name="capital"/,
  );

  // Cached pages change at once, for everybody.
  const { location } = await admin.submit(EDIT, { capital: " Zürich " });
  assertEquals(location, "/countries/CHE");
  assertEquals(await capital(visitor), "Zürich");
  assertEquals(await capital(admin), "Zürich");
  await admin.submit("/admin/countries/che", { capital: "<i>Bern</i>" });
  assertEquals(await capital(visitor), "&lt;i>Bern&lt;/i>");
  await admin.submit(EDIT);
  assertEquals(await capital(visitor), "–");

  const second = await atlas.signUp("Bob");
  assert(!(await second.open("/sign-up")).text.includes("admin"));
  assert(!(await second.open("/countries/CHE")).text.includes("Edit"));
  for (
    const { status } of [
      await second.open(EDIT),
      await second.submit(EDIT, { capital: "Bobville" }),
    ]
  ) {
    assertEquals(status, 403);
  }
  assertEquals(
    (await visitor.open(EDIT)).location,
    `/sign-in?next=${encodeURIComponent(EDIT)}`,
  );
  assertEquals(
    (await visitor.submit(EDIT, { capital: "Nowhere" })).status,
    303,
  );
  assertEquals(await capital(visitor), "–");
});

Deno.test("An edit must come from Atlas's own page, name a country and be short", async () => {
  await using atlas = serveAtlas();
  const admin = await atlas.signUp("Ada");
  const forged = await admin.submit(EDIT, { capital: "Evilville" }, {
    "sec-fetch-site": "cross-site",
  });
  assertEquals(forged.status, 403);
  const long = await admin.submit(EDIT, { capital: "x".repeat(101) });
  assertEquals(long.status, 422);
  assertMatch(long.text, /id="capital-problem">Enter at most 100 characters</);
  assertEquals(await capital(admin), "Bern");
  for (const code of ["ZZZ", "%25", "__proto__"]) {
    const path = `/admin/countries/${code}`;
    assertEquals((await admin.open(path)).status, 404);
    assertEquals((await admin.submit(path, { capital: "x" })).status, 404);
  }
});

Deno.test("Only one of many concurrent sign-ups becomes the admin", async () => {
  await using atlas = serveAtlas();
  const names = ["Ada", "Bob", "Cleo"];
  const visitors = await Promise.all(names.map((name) => atlas.signUp(name)));
  const pages = await Promise.all(visitors.map(({ open }) => open(EDIT)));
  assertEquals(pages.map(({ status }) => status).sort(), [200, 403, 403]);
});
