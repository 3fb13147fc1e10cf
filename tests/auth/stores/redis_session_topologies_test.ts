import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { CLIENTS, makeClient, shareOf } from "../../cluster/clients.ts";
import {
  type RedisPlace,
  startCluster,
  startSentinels,
} from "../../cluster/redis_topology.ts";
import { UNHURRIED } from "../../helpers.ts";
import { hasRedisServer, needsRedis } from "../../redis_server.ts";
import { unlessStalled } from "../../stalls.ts";
import { recordOf, START, testSessionStore } from "./store_contract.ts";

const PLACES = [
  ["Sentinel", startSentinels],
  ["a cluster", startCluster],
] as const;

for (const [turn, [what, start]] of PLACES.entries()) {
  Deno.test({
    name: needsRedis(
      `A Redis store behaves the same through ${what} as with one server`,
      hasRedisServer,
    ),
    ignore: !hasRedisServer,
    async fn(t) {
      await using topology = await start();
      for (const client of CLIENTS) {
        const cases: [name: string, fn: () => Promise<void>][] = [];
        testSessionStore({
          name: client,
          hasConnection: true,
          make: () => openStores(client, topology.place),
          register: (name, fn) => cases.push([name, fn]),
        });
        // Each case contains assertions.
        for (const [name, fn] of shareOf(cases, client, turn)) {
          await t.step(name, fn);
        }
      }
    },
  });
}

for (const client of CLIENTS) {
  Deno.test({
    name: needsRedis(
      `While a cluster moves a store's keys, sign-ins are refused and sessions stay: ${client}`,
      hasRedisServer,
    ),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      await using cluster = await startCluster();
      await using made = makeClient(client, cluster.place);
      const errors: string[] = [];
      await using store = createRedisSessionStore({
        client: made.client,
        name: "x",
        onError: ({ message }) => errors.push(message),
      });
      const expiresAt = Date.now() + 60_000;
      const ada = recordOf("a", "ada", { expiresAt });
      await store.set(ada);

      const from = await cluster.masterOf("{x}");
      const to = cluster.nodes.find((node) => node !== from)!;
      const slot = `${await from.send("CLUSTER", "KEYSLOT", "{x}")}`;
      const ids = await Promise.all(
        [from, to].map(async (node) => `${await node.send("CLUSTER", "MYID")}`),
      );
      const set = ["CLUSTER", "SETSLOT", slot];
      await to.send(...set, "IMPORTING", ids[0]!);
      await from.send(...set, "MIGRATING", ids[1]!);

      // The user's list exists, the session doesn't.
      for (const id of ["b", "c", "d"]) {
        const error = await assertRejects(
          async () => await store.set(recordOf(id, "ada", { expiresAt })),
          UnavailableError,
        );
        assertMatch(error.message, /TRYAGAIN|Too many Cluster redirections/);
        assertEquals(await store.get("a"), ada);
        // Longer than until the next check of the connection.
        await new Promise((resolve) => setTimeout(resolve, 600));
      }
      assertEquals(errors.length, 1);

      // Missing keys are asked for at the other node, also while closing.
      for (let ms = 0; ms < 20; ms++) {
        await using other = createRedisSessionStore({
          client: made.client,
          name: "x",
          onError() {},
        });
        await other.ping();
        const reads = Array.from("x".repeat(50), (id) => other.get(id));
        const done = Promise.allSettled(reads);
        await new Promise((resolve) => setTimeout(resolve, ms / 4));
        await other.close();
        await done;
      }

      const keys = await from.send("CLUSTER", "GETKEYSINSLOT", slot, "10");
      const place = ["127.0.0.1", `${to.port}`, "", "0", "5000"];
      await from.send("MIGRATE", ...place, "KEYS", ...keys as string[]);
      for (const node of [to, from]) await node.send(...set, "NODE", ids[1]!);
      assertEquals(await store.get("a"), ada);
      await store.set(recordOf("b", "ada", { expiresAt }));
      assertEquals(await store.deleteByUser("ada"), 2);
      assertEquals(errors.length, 1);
    }),
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
        timeout: UNHURRIED,
      })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
