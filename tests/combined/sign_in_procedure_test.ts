/** Procedures that sign users in and check passwords. */

import { assertEquals } from "@std/assert";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  hashPassword,
  rateLimitSignIn,
  verifyPassword,
} from "@quartet/kit/auth";
import { createRouter, procedure } from "@quartet/kit/rpc";
import { SECRET } from "../auth/harness.ts";
import { connect, errorLog, serveRouter, subscribe } from "../rpc/helpers.ts";

const REFUSED = { code: "INVALID_CREDENTIALS", message: "Invalid credentials" };
const LIMITED = {
  code: "RATE_LIMITED",
  message: "Too many attempts to sign in; try again later",
};

/** Starts a server with procedures that sign in as Ada. */
async function startProcedures(perAccountAndAddress: number) {
  const log = errorLog();
  const hash = await hashPassword("engine", { ln: 10 });
  const auth = createAuthPlugin({
    session: { secret: SECRET },
    providers: [credentials({
      authorize: async ({ name, password }) =>
        name === "ada" && await verifyPassword(password, hash)
          ? { id: "1", name }
          : null,
    })],
    signInLimiter: rateLimitSignIn({ perAccountAndAddress }),
    now: () => Date.parse("2026-03-01T12:00:00Z"),
  });
  const input = { parse: (value: unknown) => Object(value) as object };
  const router = createRouter({
    signIn: procedure.mutation(input, async ({ input, ctx }) => {
      const fields = { ...input };
      return (await getAuth(ctx).signIn("credentials", fields)).userId;
    }),
    watch: procedure.subscription(input, async function* ({ input, ctx }) {
      yield await verifyPassword("engine", hash);
      yield (await getAuth(ctx).signIn("credentials", { ...input })).userId;
    }),
  }, log);
  const server = await serveRouter(router, {}, { plugins: [auth] });
  return Object.assign(server, { log });
}

function signIn(password: string) {
  const input = { name: "ada", password };
  return { path: ["signIn"], type: "mutation", input };
}

Deno.test("A failed sign-in in a procedure has the code and status of its AuthError", async () => {
  await using server = await startProcedures(3);
  const right = await server.post(signIn("engine"));
  assertEquals([right.status, right.body], [200, { ok: true, data: "1" }]);
  const wrong = await server.post(signIn("wheel"));
  assertEquals(wrong.body, { ok: false, error: REFUSED });
  assertEquals([wrong.status, wrong.headers.getSetCookie()], [401, []]);
  const { body } = await server.post({ batch: [signIn("wheel")] });
  assertEquals(body.data, [{ ok: false, status: 401, error: REFUSED }]);
  await server.post(signIn("wheel"));
  const late = await server.post(signIn("engine"));
  assertEquals(late.body, { ok: false, error: LIMITED });
  assertEquals([late.status, late.headers.has("retry-after")], [429, true]);
  assertEquals(server.log.logged, []);
});

Deno.test("A subscription can check passwords, and gets the code of a failed sign-in", async () => {
  await using server = await startProcedures(100);
  await using socket = await connect(server);
  socket.send({
    ...subscribe("s", "watch"),
    input: { name: "ada", password: "wheel" },
  });
  assertEquals((await socket.next()).data, true);
  const { type, error } = await socket.next();
  assertEquals([type, error], ["error", REFUSED]);
  assertEquals(server.log.logged, []);
});
