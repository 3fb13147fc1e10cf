import { createPostgresRateLimitStore } from "@quartet/kit/rpc/postgres";
import {
  driverNames,
  DRIVERS,
  hasPostgres,
  needsPostgres,
  newSchema,
  sharedPostgres,
} from "../postgres_server.ts";
import { testLimits } from "./rate_limit_contract.ts";

const url = sharedPostgres();

for (const driver of driverNames) {
  testLimits({
    name: `createPostgresRateLimitStore() with ${driver}`,
    title: needsPostgres,
    ignore: !hasPostgres,
    make() {
      const stack = new AsyncDisposableStack();
      const schema = newSchema();
      return Promise.resolve({
        processes: 3,
        open: () => ({
          store: stack.use(createPostgresRateLimitStore({
            connect: DRIVERS[driver](url()),
            schema,
            timeout: 30,
          })),
        }),
        pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        [Symbol.asyncDispose]: () => stack.disposeAsync(),
      });
    },
  });
}
