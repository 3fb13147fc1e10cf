import {
  cached,
  createApp,
  createAuthPlugin,
  createRouter,
  createTracer,
  procedure,
  requireAuth,
  rpcPlugin,
  tracePlugin,
} from "@quartet/kit";
import { deepEqual, equal } from "node:assert/strict";

const tracer = createTracer();
const router = createRouter({
  answer: procedure.query(() => cached("answer", () => 42, { maxAge: 60 })),
});
const app = createApp({
  trace: tracePlugin(tracer),
  plugins: [
    createAuthPlugin({
      session: { secret: "a secret of at least thirty-two bytes" },
    }),
    rpcPlugin({ router }),
  ],
  routes: [{ path: "/account", config: requireAuth(), loader: () => "mine" }],
});

const account = await app.fetch(new Request("http://localhost/account"));
equal(account.status, 401);
await account.body?.cancel();

const answer = await app.fetch(
  new Request("http://localhost/api/rpc?path=answer"),
);
deepEqual(await answer.json(), { ok: true, data: 42 });
equal(tracer.getTraces().length, 2);
await app.close();

console.log("@quartet/kit works");
