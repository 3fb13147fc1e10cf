/**
 * The users' view of a Redis that is killed and restarted, with or without its
 * data, or whose data are deleted.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import {
  hasRedisServer,
  needsRedis,
  type RedisServer,
  startRedis,
} from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { DURABLE, eventually } from "./redis_topology.ts";
import { pause, SeveralKits, show } from "./several_kits.ts";

function test(
  name: string,
  settings: readonly string[],
  fn: (redis: RedisServer, kits: SeveralKits) => Promise<void>,
): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      await using redis = await startRedis(settings);
      await using kits = await SeveralKits.start({ url: redis.url });
      await fn(redis, kits);
    }),
  });
}

/** Kills Redis, and restarts it later. */
async function killFor(
  milliseconds: number,
  redis: RedisServer,
): Promise<void> {
  await redis.crash();
  await pause(milliseconds);
  await redis.restart();
}

test(
  "Redis killed and restarted with its data: 503 during the outage, and no message is lost",
  DURABLE,
  async (redis, kits) => {
    const { from, end, figures } = await kits.outlast(() =>
      killFor(1_500, redis)
    );
    show("restart with AOF", figures);
    // Only requests that began and ended during the outage.
    const during = { from: from + 100, until: end };
    kits.checkStatuses(during, { session: [503], publish: [503] });
    kits.checkStatuses({ from }, { cache: [200], limit: [200] });
    await kits.check();
    for (const { process } of kits.kits) {
      const lines = process.log.trim().split("\n").toSorted();
      assertEquals(lines, [...new Set(lines)], "each outage is reported once");
      assert(process.log.includes("session store"), process.log);
    }
  },
);

test(
  "Redis killed and restarted without its data: sessions have ended, and subscriptions report a gap",
  [],
  async (redis, kits) => {
    const { figures } = await kits.outlast(() => killFor(500, redis), {
      sessions: false,
    });
    show("restart without AOF", figures);
    for (const [i, { user }] of kits.kits.entries()) {
      await eventually(
        "the user is signed out",
        async () => (await user.get("/me")).status === 401,
      );
      await user.post("/sign-in", { name: `user${i}` });
      assertEquals((await user.get("/me")).status, 200);
    }
    await kits.check({ gaps: 1 });
    for (const { follower } of kits.kits) assertEquals(follower.gaps.length, 1);
  },
);

test(
  "FLUSHALL: sessions have ended, values are computed again, and subscriptions report a gap",
  [],
  async (redis, kits) => {
    kits.use();
    await pause(200);
    const start = performance.now();
    kits.origin.version = 2;
    await redis.send("FLUSHALL");
    const until = await kits.works({ sessions: false });
    await eventually("all are signed out", async () => {
      for (const { user } of kits.kits) {
        if ((await user.get("/me")).status !== 401) return false;
      }
      return true;
    });
    await kits.rest();
    show("FLUSHALL", { ...kits.summary(start), until });
    for (const status of kits.statuses("session", { from: start })) {
      assert([200, 401].includes(status), `session: ${status}`);
    }
    kits.checkStatuses({ from: start }, {
      publish: [200],
      cache: [200],
      limit: [200],
    });
    await kits.check({ gaps: 1 });
  },
);
