/**
 * The users' view of a process that is killed, or restarted in a rolling
 * update.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { ALL_WORK, pause, SeveralKits, show } from "./several_kits.ts";

const ignore = !hasRedisServer;
const title = (name: string) => needsRedis(name, hasRedisServer);

Deno.test({
  name: title(
    "A killed process loses no session and no message, and the others go on",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    const [killed, other] = kits.kits as [
      typeof kits.kits[0],
      typeof kits.kits[0],
    ];
    kits.use();
    await pause(200);
    const from = performance.now();
    killed.process.kill("SIGKILL");
    await killed.process.ended;
    // As a load balancer would do.
    for (const visitor of [killed.user, killed.guest]) {
      visitor.origin = other.process.origin;
    }
    const until = await kits.works();
    await pause(200);
    await kits.rest();
    show("kill -9 of a process", { ...kits.summary(from), until });
    kits.checkStatuses({ from, kit: 1 }, ALL_WORK);
    await kits.check();
  }),
});

Deno.test({
  name: title(
    "A rolling restart loses no session and no message",
  ),
  ignore,
  fn: unlessStalled(async () => {
    await using redis = await startRedis();
    await using kits = await SeveralKits.start({ url: redis.url });
    const { from, figures } = await kits.outlast(async () => {
      for (const [i, { process }] of kits.kits.entries()) {
        await kits.works();
        process.kill("SIGTERM");
        await kits.restart(i);
      }
    });
    show("rolling restart", figures);
    // 0: nothing listened. 503: the process was about to end. A proxy in front
    // would then ask another process.
    for (const asked of ["session", "publish", "cache", "limit"] as const) {
      const statuses = kits.statuses(asked, { from });
      assertEquals(statuses.filter((each) => each !== 0 && each !== 503), [
        200,
      ]);
    }
    await kits.check();
  }),
});
