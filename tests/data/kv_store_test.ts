import { assertThrows } from "@std/assert";
import { createKvStore } from "@quartet/kit/data/kv";
import type { CacheStore } from "@quartet/kit/data";
import { testSharedStore } from "./shared_store_contract.ts";

testSharedStore({
  name: "createKvStore()",
  async make() {
    const dir = await Deno.makeTempDir();
    const stores: CacheStore[] = [];
    const open: Deno.Kv[] = [];
    return {
      async open(options) {
        // Each process has the file open on its own.
        const kv = await Deno.openKv(`${dir}/cache.db`);
        open.push(kv);
        const store = createKvStore({ kv, interval: 0.002, ...options });
        stores.push(store);
        return store;
      },
      async [Symbol.asyncDispose]() {
        for (const store of stores) await store.close?.();
        for (const kv of open) kv.close();
        await Deno.remove(dir, { recursive: true });
      },
    };
  },
});

Deno.test("createKvStore() refuses what it can't use", async () => {
  const kv = await Deno.openKv(":memory:");
  // deno-lint-ignore no-explicit-any -- what JavaScript may pass
  const cases: readonly (readonly [any, string])[] = [
    [{}, "kv must be what Deno.openKv() gives, received undefined"],
    [{ kv: "cache.db" }, 'received "cache.db"'],
    [{ kv, name: "" }, "name must be a string that is not empty"],
    [{ kv, interval: 0 }, "interval must be a positive number"],
    [{ kv, lockTime: NaN }, "lockTime must be a positive number"],
    [{ kv, maxBytes: "1" }, "maxBytes must be a positive number"],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => createKvStore(options), TypeError, message);
  }
  kv.close();
});
