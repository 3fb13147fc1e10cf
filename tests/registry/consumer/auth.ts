import { createApp } from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  getUser,
  requireAuth,
} from "@quartet/kit/auth";
import { equal } from "node:assert/strict";

const auth = createAuthPlugin({
  session: { secret: "a secret of at least thirty-two bytes" },
  providers: [
    credentials({
      authorize: ({ name, password }) =>
        name === "ada" && password === "engine" ? { id: "1", name } : null,
    }),
  ],
});
const app = createApp({
  plugins: [auth],
  routes: [{
    path: "/sign-in",
    action: async ({ request, context }) => {
      const { userId } = await getAuth(context)
        .signIn("credentials", await request.json());
      return { userId };
    },
  }, {
    path: "/me",
    config: { ...requireAuth() },
    loader: ({ context }) => getUser(context)?.name,
  }],
});

const refused = await app.fetch(new Request("http://localhost/me"));
equal(refused.status, 401);
const signedIn = await app.fetch(
  new Request("http://localhost/sign-in", {
    method: "POST",
    body: JSON.stringify({ name: "ada", password: "engine" }),
  }),
);
const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
const me = await app.fetch(
  new Request("http://localhost/me", { headers: { cookie } }),
);
equal(await me.json(), "ada");

console.log("@quartet/kit/auth works");
