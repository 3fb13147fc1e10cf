import { assert, assertEquals, assertMatch } from "@std/assert";
import { emailOf, PASSWORD, serveAtlas } from "./serve_atlas.ts";

const ADA = { email: emailOf("Ada"), password: PASSWORD };

Deno.test("Signing up, out and in again works", async () => {
  await using atlas = serveAtlas();
  const ada = atlas.visitor();
  const { location } = await ada.submit("/sign-up?next=/countries/ISL", {
    ...ADA,
    name: " Ada ",
  });
  assertEquals(location, "/countries/ISL");
  const [cookie] = ada.browser.received;
  assert(/HttpOnly/.test(cookie!) && /SameSite=Lax/.test(cookie!), cookie);
  assertMatch((await ada.open("/")).text, /<a href="\/account">Ada<\/a>/);

  assertEquals((await ada.submit("/sign-out")).location, "/");
  assertEquals(ada.cookie, "");
  const page = await ada.open("/countries/ISL");
  assertMatch(page.text, /<a href="\/sign-in\?next=%2Fcountries%2FISL">/);

  const again = await ada.submit("/sign-in?next=/countries/ISL", {
    email: " ADA@example.com ",
    password: PASSWORD,
  });
  assertEquals(again.location, "/countries/ISL");
  assertMatch((await ada.open("/account")).text, /<h1>Ada<\/h1>/);
  // A signed-in user gets no sign-in form.
  assertEquals((await ada.open("/sign-in?next=/account")).location, "/account");
});

Deno.test("A wrong password and an unknown address get the same response", async () => {
  await using atlas = serveAtlas();
  await atlas.signUp("Ada");
  const anonymous = atlas.visitor();
  const pages = [];
  for (
    const fields of [
      { ...ADA, password: "a password somebody guesses" },
      { ...ADA, email: "bob@example.com" },
    ]
  ) {
    const { status, text } = await anonymous.submit("/sign-in", fields);
    assertEquals(status, 401);
    assertMatch(text, /role="alert">The e-mail address or password is /);
    assert(!text.includes(fields.password), "passwords are not sent back");
    assert(text.includes(`value="${fields.email}"`), "the address is kept");
    pages.push(text.replaceAll(fields.email, ""));
  }
  assertEquals(pages[0], pages[1]);
  assertEquals(anonymous.cookie, "");
});

Deno.test("Too many guesses must wait", async () => {
  await using atlas = serveAtlas();
  const anonymous = atlas.visitor();
  const guesses = await Promise.all(
    Array.from({ length: 11 }, () => anonymous.submit("/sign-in", ADA)),
  );
  const late = guesses.filter(({ status }) => status === 429);
  assertEquals(late.length, 1);
  assertMatch(late[0]!.text, /Too many attempts. Try again in 15 minutes/);
});

Deno.test("The sign-up form reports errors per field and keeps the other values", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  const good = { ...ADA, name: "Ada" };
  for (
    const [fields, problem] of [
      [{ ...good, name: "  " }, "Enter your name"],
      [{ ...good, name: "x".repeat(81) }, "Enter at most 80 characters"],
      [{ ...good, email: "ada at example" }, "Enter a valid e-mail address"],
      [{ ...good, password: "1234567" }, "Enter at least 8 characters"],
      [{ ...good, password: "x".repeat(1025) }, "The password is too long"],
      // 128 of these are 4 KB after normalization.
      [{ ...good, password: "ﷺ".repeat(128) }, "The password is too long"],
    ] as const
  ) {
    const { status, text } = await visitor.submit("/sign-up", fields);
    assertEquals(status, 422);
    const id = /aria-describedby="(.*?)"/.exec(text)![1];
    assert(text.includes(`id="${id}">${problem}<`), text);
    assert(!text.includes(fields.password), "passwords are not sent back");
    assert(text.includes(`value="${fields.email}"`), "the address is kept");
  }
  const { text } = await visitor.submit("/sign-up");
  assertEquals(text.match(/aria-invalid/g)?.length, 3);
  const markup = await visitor.submit("/sign-up", { name: '"><script>' });
  assert(!markup.text.includes("<script>"));
  assertEquals(visitor.cookie, "");
});

Deno.test("An e-mail address belongs to one account, in any spelling", async () => {
  await using atlas = serveAtlas();
  const twins = [atlas.visitor(), atlas.visitor()];
  const pages = await Promise.all(
    twins.map((twin, i) =>
      twin.submit("/sign-up", {
        name: `Twin ${i}`,
        email: i === 0 ? "twin@example.com" : "TWIN@Example.com",
        password: `${PASSWORD} ${i}`,
      })
    ),
  );
  assertEquals(pages.map(({ status }) => status).sort(), [303, 422]);
  const late = pages.find(({ status }) => status === 422)!;
  assertMatch(late.text, /An account with this address already exists/);
});

Deno.test("Signing in redirects only to Atlas's own pages", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  for (
    const next of [
      "https://evil.example/",
      "//evil.example",
      "/\\evil.example",
      "/\t/evil.example",
      "javascript:alert(1)",
    ]
  ) {
    const query = `?next=${encodeURIComponent(next)}`;
    const { text } = await visitor.open(`/sign-in${query}`);
    assertMatch(text, /<form class="fields" method="post" action="[^"]*%2F">/);
    assert(!text.includes("evil") && !text.includes("alert"), text);
    const page = await visitor.signInWithHillside("ada", next);
    assertEquals(page.location, "/");
    const signedIn = await visitor.open(`/sign-in${query}`);
    assertEquals(signedIn.location, "/");
    await visitor.submit("/sign-out");
  }
});

Deno.test("Cross-site pages can't sign users up, in or out", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  await visitor.signInWithHillside("ada");
  const { cookie } = visitor;
  for (
    const path of ["/sign-up", "/sign-in", "/sign-out", "/sign-out-everywhere"]
  ) {
    for (
      const headers of [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { origin: "https://evil.example" },
        { origin: "null" },
      ]
    ) {
      const fields = { ...ADA, name: "Ada" };
      const { status, text } = await visitor.submit(path, fields, headers);
      assertEquals(status, 403, path);
      assertMatch(text, /<h1>You don't have access<\/h1>/);
    }
  }
  assertEquals(visitor.cookie, cookie);
  const honest = { "sec-fetch-site": "same-origin", origin: atlas.origin };
  const { status } = await visitor.submit("/sign-out", {}, honest);
  assertEquals([status, visitor.cookie], [303, ""]);
});

Deno.test("Forms have a maximum size", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  for (const path of ["/sign-up", "/sign-in"]) {
    const fields = { email: "x".repeat(20_000) };
    assertEquals((await visitor.submit(path, fields)).status, 413);
  }
});

Deno.test("API requests are refused in JSON, pages with a page", async () => {
  await using atlas = serveAtlas();
  const visitor = atlas.visitor();
  const asProgram = async (path: string) => {
    const { status, text } = await visitor.submit(path, {}, { accept: "*/*" });
    return [status, JSON.parse(text).error.code];
  };
  assertEquals(await asProgram("/sign-out-everywhere"), [401, "UNAUTHORIZED"]);
  assertEquals(
    (await visitor.submit("/sign-out-everywhere")).location,
    "/sign-in",
  );
  assertEquals(
    (await visitor.open("/account")).location,
    "/sign-in?next=%2Faccount",
  );
  const { status, text } = await visitor.open("/nowhere");
  assertEquals(status, 404);
  assertMatch(text, /<h1>Page not found<\/h1>/);
});
