import { assertEquals } from "@std/assert";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { useCookieSockets } from "../soak/cookie_sockets.ts";
import { LIMIT } from "./kit_app.ts";
import { startKit, startOrigin, visit } from "./kit_process.ts";
import { eventually } from "./redis_topology.ts";

Deno.test({
  name: needsRedis(
    "Two processes share sessions, messages, cached values and limits",
    hasRedisServer,
  ),
  ignore: !hasRedisServer,
  async fn() {
    await using redis = await startRedis();
    await using origin = startOrigin();
    using sockets = useCookieSockets();
    const options = { place: { url: redis.url }, origin: origin.origin };
    await using one = await startKit(options);
    await using other = await startKit(options);
    using ada = visit(one, sockets, { "x-name": "ada" });

    assertEquals((await ada.get("/me")).status, 401);
    assertEquals((await ada.post("/sign-in", { name: "ada" })).status, 200);
    ada.origin = other.origin;
    const { status, body } = await ada.get("/me");
    assertEquals([status, body], [200, { name: "ada" }]);

    using follower = ada.follow();
    await eventually(
      "it is subscribed",
      async () => (await ada.figures()).subscribers === 1,
    );
    ada.origin = one.origin;
    for (const value of [1, 2, 3]) await ada.rpc.publish.mutate(value);
    await eventually("all arrive", () => follower.values.length === 3);
    assertEquals(follower.values, [1, 2, 3]);

    assertEquals(await ada.rpc.read.query("a"), "a 1");
    origin.version = 2;
    ada.origin = other.origin;
    assertEquals(await ada.rpc.read.query("a"), "a 1");
    assertEquals((await ada.rpc.invalidate.mutate()).success, true);
    assertEquals(await ada.rpc.read.query("a"), "a 2");

    for (let i = 0; i < LIMIT; i++) {
      ada.origin = [one, other][i % 2]!.origin;
      await ada.rpc.limited.query();
    }
    const error = await ada.rpc.limited.query().catch((error) => error);
    assertEquals(error.code, "RATE_LIMITED");

    assertEquals((await ada.get("/__app/health")).status, 200);
    ada.origin = other.origin;
    assertEquals((await ada.post("/sign-out")).status, 200);
    ada.origin = one.origin;
    assertEquals((await ada.get("/me")).status, 401);
    assertEquals([one.log, other.log], ["", ""]);
    assertEquals([follower.gaps, follower.errors], [[], []]);
  },
});
