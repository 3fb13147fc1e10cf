/**
 * The users' view of a Redis that answers late or not at all: connections are
 * lost silently, Redis is stopped or slow, or it can't reach one process.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { MAX_STALENESS } from "./kit_app.ts";
import { eventually } from "./redis_topology.ts";
import { ALL_WORK, pause, SeveralKits, show } from "./several_kits.ts";

const ignore = !hasRedisServer;
const title = (name: string) => needsRedis(name, hasRedisServer);

Deno.test({
  name: title(
    "Silent connections to Redis are replaced, and no message is lost",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    const { from, figures } = await kits.outlast(() => {
      for (const { proxy } of kits.kits) proxy.set("silent");
      // Long enough for all connections to be replaced.
      return pause(2_500);
    });
    show("silent", figures);
    for (const asked of ["session", "publish"] as const) {
      for (const status of kits.statuses(asked, { from })) {
        assert([200, 503].includes(status), `${asked}: ${status}`);
      }
    }
    kits.checkStatuses({ from }, { cache: [200], limit: [200] });
    await kits.check();
  }),
});

Deno.test({
  name: title(
    "Redis stopped for five seconds: 503 for sessions and messages, while values and limits work",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    const { from, end, figures } = await kits.outlast(async () => {
      redis.signal("SIGSTOP");
      await pause(5_000);
      redis.signal("SIGCONT");
    });
    show("SIGSTOP for 5 s", figures);
    const during = { from: from + 100, until: end };
    kits.checkStatuses(during, { session: [503], publish: [503] });
    kits.checkStatuses({ from }, { cache: [200], limit: [200] });
    await kits.check();
  }),
});

Deno.test({
  name: title(
    "A disconnected process answers 503, serves stale values only briefly and receives all messages later",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    const [cutOff, other] = kits.kits as [
      typeof kits.kits[0],
      typeof kits.kits[0],
    ];
    await kits.ask(0, "cache");
    let invalidated = 0;
    const { from, end, figures } = await kits.outlast(async () => {
      cutOff.proxy.set("black hole");
      kits.origin.version = 2;
      const { success } = await other.guest.rpc.invalidate.mutate();
      invalidated = performance.now();
      assert(success);
      await pause(MAX_STALENESS * 1_000 + 3_000);
      assertEquals((await cutOff.guest.get("/__app/health")).status, 503);
      assertEquals((await other.guest.get("/__app/health")).status, 200);
      cutOff.proxy.set("forward");
    });

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
    show("partition of one process", { ...figures, stale });
    // A generous bound: the test only checks that one exists.
    const bound = invalidated + MAX_STALENESS * 1_000 + 2_000;
    assertEquals(values(0, bound), ["key 2"]);
    assertEquals(values(1, invalidated + 500), ["key 2"]);
    const during = { from: from + 100, until: end, kit: 0 };
    kits.checkStatuses(during, { session: [503], publish: [503] });
    kits.checkStatuses({ from, kit: 1 }, ALL_WORK);
    await kits.check();
  }),
});

Deno.test({
  name: title(
    "A slow Redis delays answers, which become 503 above the timeout",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    let from = performance.now();
    for (const { proxy } of kits.kits) proxy.set({ delay: 100 });
    kits.use();
    await pause(1_500);
    show("each way takes 100 ms", kits.summary(from));
    kits.checkStatuses({ from }, ALL_WORK);
    from = performance.now();
    for (const { proxy } of kits.kits) proxy.set({ delay: 2_000 });
    await pause(3_000);
    show("each way takes 2 s", kits.summary(from));
    kits.checkStatuses({ from: from + 500 }, {
      session: [503],
      publish: [503],
      cache: [200],
      limit: [200],
    });
    for (const { proxy } of kits.kits) proxy.set("forward");
    await eventually("it is back", async () => await kits.works() > 0);
    await kits.check();
  }),
});
