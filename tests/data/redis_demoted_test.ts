/**
 * Caches whose Redis server has become a replica without a connection to the
 * new master.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import { createCache } from "@quartet/kit/data";
import { createRedisStore } from "@quartet/kit/data/redis";
import { createClient } from "redis";
import { eventually, startReplicated } from "../cluster/redis_topology.ts";
import { freePort } from "../helpers.ts";
import { hasRedisServer, needsRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";

for (const strict of [false, true]) {
  Deno.test({
    name: needsRedis(
      `A demoted master counts as away: ${
        strict
          ? "a strict cache returns no stale value"
          : "no value gets older than maxStaleness"
      }`,
      hasRedisServer,
    ),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      await using servers = await startReplicated();
      const { master, replica } = servers;
      const errors: string[] = [];
      let version = 1;
      const open = (url: string) => {
        const cache = createCache({
          store: createRedisStore({
            client: createClient({ url }),
            name: "test",
            maxStaleness: 1,
            strict,
          }),
          onError: (error) => errors.push((error as Error).message),
        });
        const load = () =>
          cache.cached("k", () => version, { maxAge: 600, tags: ["a"] });
        return Object.assign(cache, { load });
      };
      await using here = open(master.url);
      assertEquals(await here.load(), 1);
      assertEquals(await here.load(), 1);

      await replica.send("REPLICAOF", "NO", "ONE");
      await master.send("REPLICAOF", "127.0.0.1", `${freePort()}`);
      await using there = open(replica.url);
      await there.load();
      version = 2;
      assertEquals((await there.revalidateTag("a")).success, true);

      if (strict) assertEquals(await here.load(), 2);
      await eventually(
        "the stale value is dropped",
        async () => await here.load() === 2,
        30_000,
      );
      version = 3;
      await there.revalidateTag("a");
      await eventually(
        "the next value is dropped",
        async () => await here.load() === 3,
        30_000,
      );
      assertEquals(errors.length, 1);
      assertMatch(errors[0]!, /^Cannot reach cache store: READONLY /);
    }),
  });
}
