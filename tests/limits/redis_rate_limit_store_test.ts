import { createRedisRateLimitStore } from "@quartet/kit/rpc/redis";
import { CLIENTS, makeClient } from "../cluster/clients.ts";
import { hasRedisServer, needsRedis, startRedis } from "../redis_server.ts";
import { testLimits } from "./rate_limit_contract.ts";

/** Moves the ends of all windows, as seen by a clock that has moved back. */
const REWIND = `
for _, key in ipairs(redis.call("KEYS", "{test}:*")) do
  local ends, count = string.match(redis.call("GET", key), "(%d+) (%d+)")
  local text = string.format("%.0f %s", ends + ARGV[1], count)
  redis.call("SET", key, text, "PX", redis.call("PTTL", key) + ARGV[1])
end`;

for (const client of CLIENTS) {
  testLimits({
    name: `createRedisRateLimitStore() with ${client}`,
    title: (name) => needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    async make() {
      const stack = new AsyncDisposableStack();
      const { url, send } = stack.use(await startRedis());
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
        rewind: async (ms) => void await send("EVAL", REWIND, "0", `${ms}`),
        [Symbol.asyncDispose]: () => stack.disposeAsync(),
      };
    },
  });
}
