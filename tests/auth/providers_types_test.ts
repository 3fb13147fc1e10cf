import { assertEquals } from "@std/assert";
import {
  apiKey,
  createAuthPlugin,
  credentials,
  discord,
  github,
  google,
  mock,
  oauth,
} from "@quartet/kit/auth";
import { CLIENT } from "./oauth_setup.ts";

const CONFIG = { session: { secret: "a secret of at least thirty-two bytes" } };
const OPTIONS = { clientId: CLIENT.id, clientSecret: CLIENT.secret };
const OWN = {
  ...OPTIONS,
  id: "own",
  name: "Our own",
  authorizationUrl: "https://id.example/authorize",
  tokenUrl: "https://id.example/token",
  userInfoUrl: "https://id.example/userinfo",
};

/** An application's user as an interface, as most write it. */
interface Member {
  id: string;
  isAdmin: boolean;
}

Deno.test("Providers with different user types work in one plugin", async () => {
  const plugin = createAuthPlugin({
    ...CONFIG,
    providers: [
      github(OPTIONS),
      google(OPTIONS),
      discord(OPTIONS),
      oauth(OWN),
      mock(),
      apiKey({ validate: () => null }),
      credentials({ authorize: () => Promise.resolve(null) }),
      credentials({ id: "pin", authorize: () => ({ id: "1", isAdmin: true }) }),
    ],
  });
  assertEquals(plugin.name, "auth");
  await plugin.close();
});

Deno.test("profile() gives the users of all providers one type", async () => {
  const toMember = ({ id }: { id: string }): Member => ({ id, isAdmin: false });
  const plugin = createAuthPlugin({
    ...CONFIG,
    providers: [
      github({ ...OPTIONS, profile: ({ login }) => toMember({ id: login }) }),
      google({ ...OPTIONS, profile: toMember }),
      discord({
        ...OPTIONS,
        profile: (user) => Promise.resolve(toMember(user)),
      }),
      oauth({ ...OWN, profile: ({ sub }) => toMember({ id: String(sub) }) }),
      mock({ user: toMember({ id: "1" }) }),
      apiKey({ validate: (key) => toMember({ id: key }) }),
      credentials({ authorize: () => toMember({ id: "1" }) }),
    ],
    callbacks: {
      onSignIn(user) {
        const isAdmin: boolean = user.isAdmin;
        assertEquals(isAdmin, false);
      },
    },
  });
  const whenAsked = (context: Parameters<typeof plugin.getUser>[0]) => {
    const isAdmin: boolean | undefined = plugin.getUser(context)?.isAdmin;
    return isAdmin;
  };
  assertEquals(typeof whenAsked, "function");
  await plugin.close();
});
