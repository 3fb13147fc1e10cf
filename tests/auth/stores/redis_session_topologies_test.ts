import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { CLIENTS, makeClient } from "../../cluster/clients.ts";
import {
  type RedisPlace,
  startCluster,
  startSentinels,
} from "../../cluster/redis_topology.ts";
import { hasRedisServer, needsRedis } from "../../redis_server.ts";
import { START, testSessionStore } from "./store_contract.ts";

for (
  const [what, start] of [
    ["Sentinel", startSentinels],
    ["a cluster", startCluster],
  ] as const
) {
  Deno.test({
    name: needsRedis(
      `A Redis store behaves the same through ${what} as with one server`,
      hasRedisServer,
    ),
    ignore: !hasRedisServer,
    async fn(t) {
      await using topology = await start();
      const cases: [name: string, fn: () => Promise<void>][] = [];
      for (const name of CLIENTS) {
        testSessionStore({
          name,
          hasConnection: true,
          make: () => openStores(name, topology.place),
          register: (name, fn) => cases.push([name, fn]),
        });
      }
      // Each case contains assertions.
      for (const [name, fn] of cases) await t.step(name, fn);
    },
  });
}

/** Opens stores in a namespace of their own. */
async function openStores(
  client: typeof CLIENTS[number],
  place: RedisPlace,
) {
  await using opening = new AsyncDisposableStack();
  const made = opening.use(makeClient(client, place));
  // The client knows its master only after this.
  if (client === "redis 5" && "sentinels" in place) await made.connect();
  const name = crypto.randomUUID();
  const clock = { time: START };
  const stack = opening.move();
  return {
    clock,
    open: () =>
      stack.use(createRedisSessionStore({
        client: made.client,
        name,
        now: () => clock.time,
      })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
