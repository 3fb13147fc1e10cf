import {
  createCaller,
  createRouter,
  procedure,
  rateLimit,
} from "@quartet/kit/rpc";
import { createKvRateLimitStore } from "@quartet/kit/rpc/kv";
import { equal, rejects } from "node:assert/strict";

using kv = await Deno.openKv(":memory:");
const store = createKvRateLimitStore({ kv, name: "consumer" });
const limit = { limit: 1, windowMs: 60_000, store, name: "ping" };
// Both limits share a counter.
const router = createRouter({
  ping: procedure.use(rateLimit(limit)).query(() => "pong"),
  again: procedure.use(rateLimit(limit)).query(() => "pong"),
});
const caller = createCaller(router);
equal(await caller.ping.query(), "pong");
await rejects(caller.again.query(), { code: "RATE_LIMITED" });

console.log("@quartet/kit/rpc/kv works");
