/**
 * Users' view of a Redis that answers late, or not at all. Its connections are
 * lost silently, it is stopped or slow, or it can't reach one process.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { MAX_STALENESS } from "./kit_app.ts";
import { eventually } from "./redis_topology.ts";
import { pause, SeveralKits, show } from "./several_kits.ts";

const ignore = !hasRedisServer;
const title = (name: string) => needsRedis(name, hasRedisServer);

Deno.test({
  name: title(
    "Connections to Redis that carry nothing any more are replaced, and no message is lost",
  ),
  ignore,
  async fn() {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    kits.use();
    await pause(200);
    const from = performance.now();
    for (const { proxy } of kits.kits) proxy.set("silent");
    // Until all connections are new ones.
    await pause(2_500);
    const until = await kits.works();
    await kits.rest();
    show("silent", { ...kits.summary(from), until });
    for (const asked of ["session", "publish"] as const) {
      for (const status of kits.statuses(asked, { from })) {
        assert([200, 503].includes(status), `${asked}: ${status}`);
      }
    }
    for (const asked of ["cache", "limit"] as const) {
      assertEquals(kits.statuses(asked, { from }), [200]);
    }
    await kits.check();
  },
});

Deno.test({
  name: title(
    "Redis stopped for five seconds: 503 meanwhile, values are served and computed, limits go on, then everything goes on",
  ),
  ignore,
  async fn() {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    kits.use();
    await pause(200);
    const from = performance.now();
    redis.signal("SIGSTOP");
    await pause(5_000);
    redis.signal("SIGCONT");
    const end = performance.now();
    const until = await kits.works();
    await kits.rest();
    show("SIGSTOP for 5 s", { ...kits.summary(from), until });
    const during = { from: from + 100, until: end };
    assertEquals(kits.statuses("session", during), [503]);
    assertEquals(kits.statuses("publish", during), [503]);
    assertEquals(kits.statuses("cache", { from }), [200]);
    assertEquals(kits.statuses("limit", { from }), [200]);
    await kits.check();
  },
});

Deno.test({
  name: title(
    "A process that is cut off answers 503, serves no old value for long, and gets all messages later; the other goes on",
  ),
  ignore,
  async fn() {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    const [cutOff, other] = kits.kits as [
      typeof kits.kits[0],
      typeof kits.kits[0],
    ];
    await kits.ask(0, "cache");
    kits.use();
    await pause(200);
    const from = performance.now();
    cutOff.proxy.set("black hole");
    kits.origin.version = 2;
    const { success } = await other.guest.rpc.invalidate.mutate();
    const invalidated = performance.now();
    assert(success);
    await pause(MAX_STALENESS * 1_000 + 3_000);
    assertEquals((await cutOff.guest.get("/__app/health")).status, 503);
    assertEquals((await other.guest.get("/__app/health")).status, 200);
    cutOff.proxy.set("forward");
    const end = performance.now();
    const until = await kits.works();
    await kits.rest();

    const values = (kit: number, from: number) => [
      ...new Set(
        kits.answers.filter((answer) =>
          answer.kit === kit && answer.at >= from && answer.asked === "cache"
        ).map(({ body }) => body.data),
      ),
    ];
    const lastOld = Math.max(
      invalidated,
      ...kits.answers
        .filter(({ kit, body }) => kit === 0 && body.data === "key 1")
        .map(({ at, ms }) => at + ms),
    );
    const stale = Math.round(lastOld - invalidated);
    show("partition of one process", { ...kits.summary(from), until, stale });
    // Generous: it only has to be bounded.
    const bound = invalidated + MAX_STALENESS * 1_000 + 2_000;
    assertEquals(values(0, bound), ["key 2"]);
    assertEquals(values(1, invalidated + 500), ["key 2"]);
    const during = { from: from + 100, until: end };
    assertEquals(kits.statuses("session", { ...during, kit: 0 }), [503]);
    assertEquals(kits.statuses("publish", { ...during, kit: 0 }), [503]);
    for (const asked of ["session", "publish", "cache", "limit"] as const) {
      assertEquals(kits.statuses(asked, { from, kit: 1 }), [200]);
    }
    await kits.check();
  },
});

Deno.test({
  name: title(
    "A slow Redis makes answers slow, and 503 once it takes longer than the timeout",
  ),
  ignore,
  async fn() {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    let from = performance.now();
    for (const { proxy } of kits.kits) proxy.set({ delay: 100 });
    kits.use();
    await pause(1_500);
    show("each way takes 100 ms", kits.summary(from));
    for (const asked of ["session", "publish", "cache", "limit"] as const) {
      assertEquals(kits.statuses(asked, { from }), [200]);
    }
    from = performance.now();
    for (const { proxy } of kits.kits) proxy.set({ delay: 2_000 });
    await pause(3_000);
    show("each way takes 2 s", kits.summary(from));
    const during = { from: from + 500 };
    assertEquals(kits.statuses("session", during), [503]);
    assertEquals(kits.statuses("publish", during), [503]);
    assertEquals(kits.statuses("cache", during), [200]);
    assertEquals(kits.statuses("limit", during), [200]);
    for (const { proxy } of kits.kits) proxy.set("forward");
    await eventually("it is back", async () => await kits.works() > 0);
    await kits.check();
  },
});
