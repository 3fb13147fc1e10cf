import { assert, assertEquals } from "@std/assert";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { pause, SeveralKits, show } from "./several_kits.ts";

Deno.test({
  name: needsRedis(
    "With a full Redis, writes get 503, sessions stay valid, cached values are served and limits work",
    hasRedisServer,
  ),
  ignore: !hasRedisServer,
  fn: unlessStalled(async () => {
    await using redis = await startRedis(["--maxmemory-policy", "noeviction"]);
    await using kits = await SeveralKits.start({ url: redis.url });
    kits.use();
    await pause(200);
    await redis.send("CONFIG", "SET", "maxmemory", "1");
    const from = performance.now();
    await pause(1_000);
    using otherVisitor = kits.visit(0);
    const signIn = await otherVisitor.post("/sign-in", { name: "new" });
    assertEquals(signIn.status, 503);
    assert(Number(signIn.headers.get("retry-after")) >= 1);
    const end = performance.now();
    await redis.send("CONFIG", "SET", "maxmemory", "0");
    const until = await kits.works();
    await kits.rest();
    show("full", { ...kits.summary(from), until });
    kits.checkStatuses({ from, until: end }, { publish: [503] });
    kits.checkStatuses({ from }, {
      session: [200],
      cache: [200],
      limit: [200],
    });
    const again = await otherVisitor.post("/sign-in", { name: "new" });
    assertEquals(again.status, 200);
    await kits.check();
  }),
});
