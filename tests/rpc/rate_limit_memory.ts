/**
 * Calls a limited procedure with 400 different long keys, and prints the bytes of
 * heap that each round of 50 leaves behind. Run with `--v8-flags=--expose-gc`.
 *
 * @module
 */

import {
  createCaller,
  createRouter,
  procedure,
  rateLimit,
} from "@quartet/kit/rpc";
import { heapGrowth } from "../leaks.ts";

const limit = rateLimit({
  limit: 1,
  windowMs: 10_000,
  now: () => 0,
  key: ({ ctx }) => String(ctx),
});
const router = createRouter({
  ping: procedure.use(limit).query(() => "pong"),
});

let keys = 0;
const growth = await heapGrowth(async () => {
  for (const end = keys + 50; keys < end; keys++) {
    const key = `${keys}`.padStart(400_000, "x");
    await createCaller(router, key).ping.query();
  }
});
console.log(JSON.stringify({ keys, growth }));
