import { assert, assertEquals, assertMatch } from "@std/assert";
import { click } from "../auth/oauth_setup.ts";
import { PASSWORD, serveAtlas } from "./serve_atlas.ts";
import type { Visitor } from "./serve_atlas.ts";

/** Signs in on Hillside's page, and returns the path of the redirect back. */
async function comeBack(visitor: Visitor, login: string): Promise<string> {
  const { location } = await visitor.open("/sign-in/hillside");
  const { code, state } = await click(location!, login);
  const query = new URLSearchParams({ code, state });
  return `/sign-in/hillside/callback?${query}`;
}

Deno.test("Signing in with Hillside leads back to the requested page", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  const next = "/countries/ISL?a=1;b,c";
  const { status, location } = await visitor.signInWithHillside("ada", next);
  assertEquals([status, location], [303, next]);
  const { text } = await visitor.open("/account");
  assertMatch(text, /<h1>Ada Lovelace<\/h1>/);
  assertMatch(text, /with Hillside \(this browser\)/);

  // Each sign-in reaches the same account.
  await visitor.rpc.favourites.add.mutate({ code: "ISL" });
  const elsewhere = atlas.visitor();
  await elsewhere.signInWithHillside("ada");
  const [favourite] = await elsewhere.rpc.favourites.list.query();
  assertEquals(favourite?.name, "Iceland");
  const other = atlas.visitor();
  await other.signInWithHillside("grace");
  assertEquals(await other.rpc.favourites.list.query(), []);
});

Deno.test("An account with the same e-mail address stays separate", async () => {
  await using atlas = serveAtlas();
  const squatter = await atlas.signUp("Ada");
  await squatter.rpc.favourites.add.mutate({ code: "ISL" });
  const ada = atlas.visitor();
  await ada.signInWithHillside("ada");
  assertEquals(await ada.rpc.favourites.list.query(), []);
  // It has no password, so an empty one or the text of a missing one fails.
  for (const password of ["", "null", PASSWORD]) {
    const fields = { email: "hillside:1815", password };
    assertEquals(
      (await atlas.visitor().submit("/sign-in", fields)).status,
      401,
    );
  }
});

Deno.test("A Hillside user never becomes the admin, not even as the first user", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  await visitor.signInWithHillside("ada");
  assertEquals((await visitor.open("/admin/countries/ISL")).status, 403);
});

Deno.test("A sign-in refused at Hillside shows a message, and nobody is signed in", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  const { location } = await visitor.open("/sign-in/hillside");
  const state = new URL(location!).searchParams.get("state")!;
  const query = new URLSearchParams({ error: "access_denied", state });
  const page = await visitor.open(`/sign-in/hillside/callback?${query}`);
  assertEquals(page.status, 400);
  assertMatch(page.text, /role="alert">Hillside didn't sign you in</);
  assertEquals((await visitor.open("/account")).status, 303);
});

Deno.test("An error of Hillside shows a message without Hillside's text", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  const { location } = await visitor.open(
    "/sign-in/hillside?returnTo=/account",
  );
  const state = new URL(location!).searchParams.get("state")!;
  const query = new URLSearchParams({ code: "made up", state });
  const page = await visitor.open(`/sign-in/hillside/callback?${query}`);
  assertEquals(page.status, 502);
  assertMatch(
    page.text,
    /role="alert">Hillside isn't available at the moment</,
  );
  // The next attempt still leads to the requested page.
  assertMatch(page.text, /href="\/sign-in\/hillside\?returnTo=%2Faccount"/);
  assert(!page.text.includes("verification"), page.text);
  assert(!page.text.includes(state), page.text);
});

Deno.test("A sign-in started in another browser, or expired, signs nobody in", async () => {
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

Deno.test("Hillside redirects to no other host that claims to be Atlas", async () => {
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
