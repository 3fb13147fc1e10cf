import { assertEquals } from "@std/assert";
import { connect, subscribe } from "../rpc/helpers.ts";
import { serveAtlas } from "./serve_atlas.ts";
import type { RunningAtlas, Visitor } from "./serve_atlas.ts";

/** Opens a socket of a visitor's browser. */
function socketOf({ origin }: RunningAtlas, { cookie }: Visitor) {
  return connect({ url: `${origin}/api/rpc`, headers: { cookie } });
}

/** Signs Ada in with two browsers, and another user with a third one. */
async function threeSessions(atlas: RunningAtlas) {
  const [here, there, other] = [
    atlas.visitor(),
    atlas.visitor(),
    atlas.visitor(),
  ];
  await here.signInWithHillside("ada");
  await there.signInWithHillside("ada");
  await other.signInWithHillside("grace");
  return { here, there, other };
}

Deno.test("The account lists only the user's own sessions", async () => {
  await using atlas = serveAtlas();
  const { here, there, other } = await threeSessions(atlas);
  const { text } = await here.open("/account");
  assertEquals(text.match(/with Hillside/g)?.length, 2);
  assertEquals(text.match(/with Hillside \(this browser\)/g)?.length, 1);
  const others = await other.open("/account");
  assertEquals(others.text.match(/with Hillside/g)?.length, 1);

  await there.submit("/sign-out");
  const later = await here.open("/account");
  assertEquals(later.text.match(/with Hillside/g)?.length, 1);
});

Deno.test("Signing out everywhere ends only the user's own sessions", async () => {
  await using atlas = serveAtlas();
  const { here, there, other } = await threeSessions(atlas);
  const copy = here.cookie;
  assertEquals((await here.submit("/sign-out-everywhere")).location, "/");
  for (const { open, browser } of [here, there]) {
    assertEquals((await open("/account")).status, 303);
    assertEquals(browser.cookies.size, 0);
  }
  // A copied cookie is invalid as well.
  const thief = await fetch(`${atlas.origin}/account`, {
    headers: { cookie: copy },
  });
  assertEquals(thief.status, 401);
  await thief.body?.cancel();
  assertEquals((await other.open("/account")).status, 200);
});

Deno.test("Live favourites require signing in", async () => {
  await using atlas = serveAtlas();
  await using socket = await socketOf(atlas, atlas.visitor());
  socket.send(subscribe("1", "favourites.live"));
  const { error } = await socket.next();
  assertEquals(error?.code, "UNAUTHORIZED");
});

Deno.test("Live favourites are sent only to the user's own browsers", async () => {
  await using atlas = serveAtlas();
  const { here, there, other } = await threeSessions(atlas);
  await using socket = await socketOf(atlas, there);
  await using others = await socketOf(atlas, other);
  for (const each of [socket, others]) {
    each.send(subscribe("1", "favourites.live"));
    assertEquals((await each.next()).data, []);
  }
  await here.rpc.favourites.add.mutate({ code: "ISL" });
  const { data } = await socket.next();
  assertEquals(data.map(({ name }: { name: string }) => name), ["Iceland"]);
  assertEquals(await others.settle(), []);
});

for (const way of ["/sign-out", "/sign-out-everywhere"]) {
  Deno.test(`An open socket sends nothing more after ${way}`, async () => {
    await using atlas = serveAtlas();
    const [here, there] = [atlas.visitor(), atlas.visitor()];
    await here.signInWithHillside("ada");
    await there.signInWithHillside("ada");
    await using socket = await socketOf(atlas, here);
    socket.send(subscribe("1", "favourites.live"));
    assertEquals((await socket.next()).data, []);

    await (way === "/sign-out" ? here : there).submit(way);
    const { id, error } = await socket.next();
    assertEquals([id, error?.code], ["1", "UNAUTHORIZED"]);
    // A new subscription on it is refused as well.
    socket.send(subscribe("2", "favourites.live"));
    assertEquals((await socket.next()).error?.code, "UNAUTHORIZED");
    // Browsers that weren't signed out stay signed in.
    const { status } = await there.open("/account");
    assertEquals(status, way === "/sign-out" ? 200 : 303);
  });
}
