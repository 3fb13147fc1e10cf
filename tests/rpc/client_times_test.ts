import { assertEquals, assertRejects } from "@std/assert";
import { createRouter, procedure } from "@quartet/kit/rpc";
import {
  createClient,
  RPCClientError,
  type RPCClientErrorCode,
} from "@quartet/kit/rpc/client";
import { fakeTimers } from "./fake_timers.ts";
import { freePort } from "../helpers.ts";
import { until } from "./helpers.ts";

const router = createRouter({
  ping: procedure.query(() => "pong"),
  stream: procedure.subscription(async function* () {
    yield await Promise.resolve(1);
  }),
});

Deno.test("A heartbeat of Infinity disables pings, and no wait exceeds the maximum of timers", async () => {
  for (const heartbeatMs of [Infinity, 2 ** 31, false] as const) {
    using timers = fakeTimers();
    const rpc = createClient<typeof router>({
      httpEndpoint: `http://127.0.0.1:${freePort()}/api/rpc`,
      reconnect: { delayMs: Infinity, maxDelayMs: Infinity },
      heartbeatMs,
    });
    const unsubscribe = rpc.stream.subscribe(undefined, { onData() {} });
    await until(() => timers.waits.length > 0);
    assertEquals(timers.waits.filter((ms) => !(ms < 2 ** 31)), []);
    // Only the wait for the next attempt, because pings are off.
    assertEquals(timers.waits.length, 1);
    unsubscribe();
    assertEquals(timers.waits.length, 0);
  }
});

Deno.test("A call without a response rejects with NETWORK_ERROR and no status", async () => {
  const httpEndpoint = `http://127.0.0.1:${freePort()}/api/rpc`;
  const rpc = createClient<typeof router>({
    httpEndpoint,
  });
  const error = await assertRejects(() => rpc.ping.query(), RPCClientError);
  const code: RPCClientErrorCode = "NETWORK_ERROR";
  assertEquals([error.code, error.status], [code, 0]);
  assertEquals(
    error.message,
    `Cannot call ping at ${httpEndpoint}: NETWORK_ERROR`,
  );
});
