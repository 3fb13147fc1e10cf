import { assertEquals } from "@std/assert";
import { createApp, healthPlugin } from "@quartet/kit/app";
import { createAuthPlugin } from "@quartet/kit/auth";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { createClient } from "redis";
import { UNHURRIED } from "../helpers.ts";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";

Deno.test({
  name: needsRedis(
    "Readiness is 503 during an outage of the sessions' Redis, and only authorized callers see which store",
    hasRedisServer,
  ),
  ignore: !hasRedisServer,
  async fn() {
    await using redis = await startRedis();
    const reported: string[] = [];
    const auth = createAuthPlugin({
      session: {
        secret: "a secret of at least thirty-two bytes",
        strategy: "hybrid",
        store: createRedisSessionStore({
          client: createClient({
            url: redis.url,
            // Its timer would outlive the test.
            socket: { reconnectStrategy: false },
          }),
          timeout: UNHURRIED,
          onError: ({ message }) => reported.push(message),
        }),
      },
    });
    await using app = createApp({
      plugins: [
        healthPlugin({
          maxAge: 0,
          showDetails: ({ url }) => url.endsWith("?details"),
        }),
        auth,
      ],
      routes: [{ path: "/", loader: () => "public" }],
    });
    const ask = async (query = "") => {
      const url = `http://localhost/__app/health${query}`;
      const response = await app.fetch(new Request(url));
      return [response.status, await response.json()];
    };
    const until = async (status: number) => {
      while ((await ask())[0] !== status) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    assertEquals(await ask("?details"), [200, {
      status: "ready",
      checks: { "session store": "ok" },
    }]);

    await redis.crash();
    await until(503);
    assertEquals(await ask(), [503, { status: "failing" }]);
    assertEquals(await ask("?details"), [503, {
      status: "failing",
      checks: { "session store": "failed" },
    }]);
    const live = await app.fetch(
      new Request("http://localhost/__app/health/live"),
    );
    assertEquals((await live.json()).status, "alive");
    assertEquals(reported.length, 1, "once per outage");

    await redis.restart();
    await until(200);
    assertEquals(await ask(), [200, { status: "ready" }]);
  },
});
