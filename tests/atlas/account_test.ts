import { assertEquals } from "@std/assert";
import { connect, subscribe } from "../rpc/helpers.ts";
import { serveAtlas } from "./serve_atlas.ts";
import type { RunningAtlas, Visitor } from "./serve_atlas.ts";

/** A socket of a visitor's browser. */
function socketOf({ origin }: RunningAtlas, { cookie }: Visitor) {
  return connect({ url: `${origin}/api/rpc`, headers: { cookie } });
}

/** Ada in two browsers, and somebody else in a third one. */
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

Deno.test("The account shows where one is signed in, and only oneself", async () => {
  await using atlas = serveAtlas();
  const { here, there, other } = await threeSessions(atlas);
  const { text } = await here.open("/account");
  assertEquals(text.match(/by Hillside/g)?.length, 2);
  assertEquals(text.match(/by Hillside \(here\)/g)?.length, 1);
  const others = await other.open("/account");
  assertEquals(others.text.match(/by Hillside/g)?.length, 1);

  await there.submit("/sign-out");
  const later = await here.open("/account");
  assertEquals(later.text.match(/by Hillside/g)?.length, 1);
});

Deno.test("Signing out everywhere ends one's sessions, and nobody else's", async () => {
  await using atlas = serveAtlas();
  const { here, there, other } = await threeSessions(atlas);
  const copy = here.cookie;
  assertEquals((await here.submit("/sign-out-everywhere")).location, "/");
  for (const { open, browser } of [here, there]) {
    assertEquals((await open("/account")).status, 303);
    assertEquals(browser.cookies.size, 0);
  }
  // Nor is a copy of the cookie good for anything.
  const thief = await fetch(`${atlas.origin}/account`, {
    headers: { cookie: copy },
  });
  assertEquals(thief.status, 401);
  await thief.body?.cancel();
  assertEquals((await other.open("/account")).status, 200);
});

Deno.test("Live favourites are for who has signed in", async () => {
  await using atlas = serveAtlas();
  await using socket = await socketOf(atlas, atlas.visitor());
  socket.send(subscribe("1", "favourites.live"));
  const { error } = await socket.next();
  assertEquals(error?.code, "UNAUTHORIZED");
});

Deno.test("Live favourites are one's own, in all of one's browsers", async () => {
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
  Deno.test(`A socket that is open tells nothing more after ${way}`, async () => {
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
    // Nor to whoever asks anew.
    socket.send(subscribe("2", "favourites.live"));
    assertEquals((await socket.next()).error?.code, "UNAUTHORIZED");
    // Where one has not signed out, nothing has ended.
    const { status } = await there.open("/account");
    assertEquals(status, way === "/sign-out" ? 200 : 303);
  });
}
