/**
 * A server with a procedure limited to 100 calls a minute, and a sign-in that
 * always fails. Arguments: the store, and the error of its clock:
 *
 *     deno run -A limit_process.ts redis|kv <URL or path> <milliseconds>
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import {
  createAuthPlugin,
  credentials,
  getAuth,
  rateLimitSignIn,
} from "@quartet/kit/auth";
import {
  createRouter,
  procedure,
  rateLimit,
  type RateLimitStore,
  rpcPlugin,
} from "@quartet/kit/rpc";
import { createKvRateLimitStore } from "@quartet/kit/rpc/kv";
import { createRedisRateLimitStore } from "@quartet/kit/rpc/redis";
import { createClient } from "redis";

const [kind, place, skew] = Deno.args;
const { now } = Date;
Date.now = () => now() + Number(skew);

const name = "test";
const timeout = 30;
const store: RateLimitStore = kind === "redis"
  ? createRedisRateLimitStore({
    client: createClient({ url: place! }),
    name,
    timeout,
  })
  : createKvRateLimitStore({ kv: await Deno.openKv(place), name, timeout });

const limit = rateLimit({ limit: 100, windowMs: 60_000, store, name: "call" });
const router = createRouter({
  call: procedure.use(limit).query(() => "done"),
});
const app = createApp({
  plugins: [
    createAuthPlugin({
      session: { secret: "a secret of at least thirty-two bytes" },
      providers: [credentials({ authorize: () => Promise.resolve(null) })],
      signInLimiter: rateLimitSignIn({ store, name: "sign-in" }),
    }),
    rpcPlugin({ router }),
  ],
  routes: [{
    path: "/sign-in",
    async action({ request, context }) {
      await getAuth(context).signIn("credentials", await request.json());
    },
  }],
});
await app.serve({
  port: 0,
  onListen: ({ port }) => console.log(`port ${port}`),
});
