import { assert, assertEquals, assertMatch } from "@std/assert";
import { click } from "../auth/oauth_setup.ts";
import { PASSWORD, serveAtlas } from "./serve_atlas.ts";
import type { Visitor } from "./serve_atlas.ts";

/** Goes to Hillside and clicks, and gives the path that this leads back to. */
async function comeBack(visitor: Visitor, login: string): Promise<string> {
  const { location } = await visitor.open("/sign-in/hillside");
  const { code, state } = await click(location!, login);
  const query = new URLSearchParams({ code, state });
  return `/sign-in/hillside/callback?${query}`;
}

Deno.test("One signs in with Hillside, and goes on to where one wanted", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  const next = "/countries/ISL?a=1;b,c";
  const { status, location } = await visitor.signInWithHillside("ada", next);
  assertEquals([status, location], [303, next]);
  const { text } = await visitor.open("/account");
  assertMatch(text, /<h1>Ada Lovelace<\/h1>/);
  assertMatch(text, /by Hillside \(here\)/);

  // It is the same account, wherever one signs in.
  await visitor.rpc.favourites.add.mutate({ code: "ISL" });
  const elsewhere = atlas.visitor();
  await elsewhere.signInWithHillside("ada");
  const [favourite] = await elsewhere.rpc.favourites.list.query();
  assertEquals(favourite?.name, "Iceland");
  const other = atlas.visitor();
  await other.signInWithHillside("grace");
  assertEquals(await other.rpc.favourites.list.query(), []);
});

Deno.test("An account with the same address stays one of its own", async () => {
  await using atlas = serveAtlas();
  const squatter = await atlas.signUp("Ada");
  await squatter.rpc.favourites.add.mutate({ code: "ISL" });
  const ada = atlas.visitor();
  await ada.signInWithHillside("ada");
  assertEquals(await ada.rpc.favourites.list.query(), []);
  // Nor has it a password that is empty, or what the database says without one.
  for (const password of ["", "null", PASSWORD]) {
    const fields = { email: "hillside:1815", password };
    assertEquals(
      (await atlas.visitor().submit("/sign-in", fields)).status,
      401,
    );
  }
});

Deno.test("Nobody of Hillside is the admin, not even the first one here", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  await visitor.signInWithHillside("ada");
  assertEquals((await visitor.open("/admin/countries/ISL")).status, 403);
});

Deno.test("Who says no at Hillside is told so, and is nobody", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  const { location } = await visitor.open("/sign-in/hillside");
  const state = new URL(location!).searchParams.get("state")!;
  const query = new URLSearchParams({ error: "access_denied", state });
  const page = await visitor.open(`/sign-in/hillside/callback?${query}`);
  assertEquals(page.status, 400);
  assertMatch(page.text, /role="alert">Hillside did not sign you in</);
  assertEquals((await visitor.open("/account")).status, 303);
});

Deno.test("When Hillside fails, one is told so, and nothing of what it said", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  const { location } = await visitor.open("/sign-in/hillside?next=/account");
  const state = new URL(location!).searchParams.get("state")!;
  const query = new URLSearchParams({ code: "made up", state });
  const page = await visitor.open(`/sign-in/hillside/callback?${query}`);
  assertEquals(page.status, 502);
  assertMatch(page.text, /role="alert">Hillside does not work at the moment</);
  // The next attempt still leads to where one wanted.
  assertMatch(page.text, /href="\/sign-in\/hillside\?next=%2Faccount"/);
  assert(!page.text.includes("verification"), page.text);
  assert(!page.text.includes(state), page.text);
});

Deno.test("What another browser has begun, and what is over, signs nobody in", async () => {
  await using atlas = serveAtlas();
  const [mallory, victim] = [atlas.visitor(), atlas.visitor()];
  await victim.open("/sign-in/hillside");
  const path = await comeBack(mallory, "mallory");
  const page = await victim.open(path);
  assertEquals(page.status, 400);
  assertMatch(page.text, /not begun in this browser/);
  assertEquals((await victim.open("/account")).status, 303);

  assertEquals((await mallory.open(path)).location, "/");
  await mallory.submit("/sign-out");
  assertEquals((await mallory.open(path)).status, 400);
});

Deno.test("Hillside sends nobody to a host that only says to be Atlas", async () => {
  await using atlas = serveAtlas();
  const { location } = await atlas.visitor().open("/sign-in/hillside");
  const there = new URL(location!);
  assert(there.searchParams.get("redirect_uri")!.startsWith(atlas.origin));
  there.searchParams.set(
    "redirect_uri",
    "http://evil.example/sign-in/hillside/callback",
  );
  const response = await fetch(there, { redirect: "manual" });
  assertEquals(response.status, 400);
  await response.body?.cancel();
});
