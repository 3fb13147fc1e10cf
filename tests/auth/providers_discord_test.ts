import { assertEquals, assertRejects } from "@std/assert";
import { discord, presetChat } from "@quartet/kit/auth";
import { GUILD } from "../../examples/hillside/mod.ts";
import {
  ANSWER,
  CALLBACK,
  CLIENT,
  scriptedFetch,
  signIn,
  startProvider,
} from "./oauth_setup.ts";

Deno.test("Discord signs in with the verified address", async () => {
  await using local = startProvider();
  const provider = presetChat(local.discord);
  assertEquals(await signIn(provider, "ada"), {
    id: "1815",
    name: "Ada Lovelace",
    email: "ada@example.com",
    username: "ada",
    picture:
      "https://cdn.discordapp.com/avatars/1815/a_0123456789abcdef0123456789abcdef.png",
  });
  assertEquals(await signIn(provider, "mallory"), {
    id: "666",
    name: "mallory",
    email: undefined,
    username: "mallory",
    picture: undefined,
  });
});

Deno.test("Discord receives the documented defaults", () => {
  const options = { clientId: CLIENT.id, clientSecret: CLIENT.secret };
  const scopeOf = (given: Partial<Parameters<typeof presetChat>[0]>) => {
    const provider = presetChat({ ...options, ...given });
    const url = new URL(provider.getAuthorizationUrl!("s", CALLBACK));
    assertEquals(
      url.origin + url.pathname,
      "https://discord.com/oauth2/authorize",
    );
    return url.searchParams.get("scope");
  };
  assertEquals(scopeOf({}), "identify email");
  assertEquals(scopeOf({ scope: ["identify"] }), "identify");
  const withGuild = "identify email guilds.members.read";
  assertEquals(scopeOf({ guildId: GUILD }), withGuild);
  assertEquals(
    scopeOf({ guildId: GUILD, scope: ["guilds.members.read"] }),
    "guilds.members.read",
  );
  assertEquals(discord, presetChat);
  const { id, name, type } = discord(options);
  assertEquals([id, name, type], ["discord", "Discord", "oauth"]);
});

Deno.test("guildId signs in only members of the guild", async () => {
  await using local = startProvider();
  const provider = presetChat({ ...local.discord, guildId: GUILD });
  assertEquals((await signIn(provider, "ada")).id, "1815");
  const error = await signIn(provider, "grace").catch((error) => error);
  assertEquals([error.code, error.status], ["INVALID_CREDENTIALS", 401]);
  assertEquals(
    error.cause.message,
    "the user is not a member of the guild that guildId names",
  );
  // If membership can't be checked, the sign-in fails.
  const unsure = presetChat({ ...local.discord, guildId: GUILD });
  const failed = await signIn({
    ...unsure,
    getAuthorizationUrl(...args) {
      const url = new URL(unsure.getAuthorizationUrl!(...args));
      url.searchParams.set("scope", "identify email");
      return url.href;
    },
  }, "ada").catch((error) => error);
  assertEquals(failed.code, "OAUTH_FAILED");
  assertEquals(
    failed.cause.message,
    "the endpoint of guild members answered 403",
  );
});

Deno.test("A Discord user without an id or a username can't sign in", async () => {
  for (const user of [{}, { id: "1815" }, { id: 1815, username: "ada" }]) {
    const provider = presetChat({
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      fetch: scriptedFetch({
        "/api/oauth2/token": { access_token: "t" },
        "/api/users/@me": user,
      }),
    });
    const error = await assertRejects(() => provider.handleCallback!(ANSWER));
    assertEquals(
      (error as Error).message,
      "the user-info endpoint returned no id and username",
    );
  }
});
