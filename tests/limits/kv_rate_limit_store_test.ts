import { createKvRateLimitStore } from "@quartet/kit/rpc/kv";
import { testLimits } from "./rate_limit_contract.ts";

/** A database in a file, and stores in it that stand for several processes. */
async function openKv() {
  const folder = await Deno.makeTempDir();
  const kvs: Deno.Kv[] = [];
  for (let i = 0; i < 3; i++) kvs.push(await Deno.openKv(`${folder}/kv`));
  let time = 1_700_000_000_000;
  let opened = 0;
  return {
    processes: 3,
    open: () => ({
      store: createKvRateLimitStore({
        kv: kvs[opened++ % kvs.length]!,
        name: "test",
        timeout: 30,
        now: () => time,
      }),
    }),
    pass(ms: number) {
      time += ms;
      return Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      for (const kv of kvs) kv.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

testLimits({ name: "createKvRateLimitStore()", make: openKv });
