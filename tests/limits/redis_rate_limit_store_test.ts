import { createRedisRateLimitStore } from "@quartet/kit/rpc/redis";
import { CLIENTS, makeClient } from "../cluster/clients.ts";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { testLimits } from "./rate_limit_contract.ts";

for (const client of CLIENTS) {
  testLimits({
    name: `createRedisRateLimitStore() with ${client}`,
    title: (name) => needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    async make() {
      const stack = new AsyncDisposableStack();
      const { url } = stack.use(await startRedis());
      return {
        processes: 3,
        open: () => ({
          store: stack.use(createRedisRateLimitStore({
            client: stack.use(makeClient(client, { url })).client,
            name: "test",
            timeout: 30,
          })),
        }),
        pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        [Symbol.asyncDispose]: () => stack.disposeAsync(),
      };
    },
  });
}
