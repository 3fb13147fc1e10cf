import { createPostgresRateLimitStore } from "@quartet/kit/rpc/postgres";
import { openSchema } from "../postgres_schema.ts";
import {
  driverNames,
  hasPostgres,
  needsPostgres,
  sharedPostgres,
} from "../postgres_server.ts";
import { testLimits } from "./rate_limit_contract.ts";

const url = sharedPostgres();

const PROCESSES = 3;
const UNRELATED = {
  rule: { name: "unrelated", max: PROCESSES, windowMs: 60_000 },
  key: "key",
};

for (const driver of driverNames) {
  testLimits({
    name: `createPostgresRateLimitStore() with ${driver}`,
    title: needsPostgres,
    ignore: !hasPostgres,
    async make() {
      const world = await openSchema(url(), driver);
      const { schema, connect } = world;
      const create = () =>
        world.use(
          createPostgresRateLimitStore({ connect, schema, timeout: 30 }),
        );
      // All connect before the first window begins, so that it doesn't end
      // meanwhile.
      const stores = Array.from({ length: PROCESSES }, create);
      for (const store of stores) await store.take([UNRELATED]);
      return {
        ...world,
        processes: PROCESSES,
        open: () => ({ store: stores.shift() ?? create() }),
        pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        async rewind(ms) {
          await world.run(
            `UPDATE ${world.schema}.kit_limits SET ends = ends + $1`,
            [
              ms,
            ],
          );
        },
      };
    },
  });
}
