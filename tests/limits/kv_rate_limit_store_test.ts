import { assert, assertEquals } from "@std/assert";
import {
  createKvRateLimitStore,
  type KvRateLimitStoreOptions,
  type RateLimitKv,
} from "@quartet/kit/auth/kv";
import { unlessStalled } from "../stalls.ts";
import {
  limitedCall,
  limitedSignIn,
  passAtOnce,
  passes,
  testLimits,
} from "./rate_limit_contract.ts";

const START = 1_700_000_000_000;
const MINUTE = 60_000;

/** Opens a database in a file, and stores in it as several processes would. */
async function openKv() {
  const folder = await Deno.makeTempDir();
  const kvs: Deno.Kv[] = [];
  for (let i = 0; i < 3; i++) kvs.push(await Deno.openKv(`${folder}/kv`));
  const clock = { time: START };
  let opened = 0;
  const store = (options: Partial<KvRateLimitStoreOptions> = {}) =>
    createKvRateLimitStore({
      kv: kvs[opened++ % kvs.length]!,
      name: "test",
      timeout: 30,
      now: () => clock.time,
      ...options,
    });
  return {
    kvs,
    clock,
    store,
    processes: 3,
    open: () => ({ store: store() }),
    pass(ms: number) {
      clock.time += ms;
      return Promise.resolve();
    },
    rewind(ms: number) {
      clock.time -= ms;
      return Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      for (const kv of kvs) kv.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

testLimits({ name: "createKvRateLimitStore()", make: openKv });

Deno.test("Keys in Deno KV begin with the store's name and show no account or address", async () => {
  await using opened = await openKv();
  const { kvs, store } = opened;
  const shop = store({ name: "shop" });
  await limitedCall({ store: shop })("ada@example.com");
  await limitedSignIn({ store: shop }).succeed("ada@example.com", "192.0.2.1");
  const keys: string[] = [];
  for await (const { key } of kvs[0]!.list({ prefix: [] })) {
    assertEquals(key[0], "shop");
    assert(/^[\w-]{43}$/.test(String(key.at(-1))), String(key.at(-1)));
    keys.push(key.slice(1, -1).join(" "));
  }
  assertEquals(keys, [
    "count rpc:calls",
    "count sign-in-account:sign-in",
    "count sign-in-address:sign-in",
    "count sign-in-pair:sign-in",
    "mark",
  ]);
  const other = limitedCall({ store: store({ name: "other" }) });
  assertEquals(await passes(() => other("ada@example.com")), 5);
});

Deno.test("Deno KV expires entries that are no longer needed", async () => {
  await using opened = await openKv();
  const lifetimes: unknown[] = [];
  const kv = new Proxy(opened.kvs[0]!, {
    get(target, name) {
      if (name !== "atomic") return Reflect.get(target, name).bind(target);
      return () => {
        const transaction = target.atomic();
        const { set } = transaction;
        transaction.set = (key, value, options) => {
          lifetimes.push(options?.expireIn);
          return set.call(transaction, key, value, options);
        };
        return transaction;
      };
    },
  });
  const { succeed } = limitedSignIn({ store: opened.store({ kv }) });
  await succeed("ada", "192.0.2.1");
  const quarter = 15 * MINUTE;
  const month = 30 * 24 * 60 * MINUTE;
  assertEquals(lifetimes, [
    ...Array(3).fill(quarter),
    ...Array(3).fill(quarter),
    month,
  ]);
});

Deno.test("With clocks that differ, a window allows at most twice the limit, and waits end with the window", async () => {
  await using opened = await openKv();
  const { clock, store } = opened;
  for (const skew of [1_000, MINUTE, 60 * MINUTE]) {
    const calls = [0, skew].map((ahead) =>
      limitedCall({
        store: store({ now: () => clock.time + ahead }),
        name: `${skew}`,
      })
    );
    let passed = 0;
    for (let i = 0; i < 60; i++) {
      for (const call of calls) {
        const seconds = await call();
        if (seconds === 0) passed++;
        assert(seconds <= 60, `${seconds} s`);
      }
      clock.time += 900;
    }
    assert(passed <= 10, `${passed} passed within 54 s`);
  }
});

Deno.test("During an outage of Deno KV, limits use their fallback, and one report is sent", async () => {
  await using opened = await openKv();
  const kv = await Deno.openKv(":memory:");
  const errors: Error[] = [];
  const store = opened.store({ kv, onError: (error) => errors.push(error) });
  const call = limitedCall({ store });
  const allow = limitedCall({ store, name: "allow", fallback: "allow" });
  assertEquals(await passes(() => call(), 3), 3);
  kv.close();
  assertEquals(await passes(() => call()), 5);
  assertEquals(await passes(() => allow(), 20), 20);
  assertEquals(errors.map(({ name }) => name), ["UnavailableError"]);
});

Deno.test(
  "Calls time out while Deno KV doesn't answer, and use it again once it does",
  unlessStalled(async () => {
    await using opened = await openKv();
    const real = opened.kvs[0]!;
    const held = Promise.withResolvers<void>();
    let isHanging = false;
    const kv: RateLimitKv = {
      async getMany(keys) {
        if (isHanging) await held.promise;
        return await real.getMany(keys as Deno.KvKey[]);
      },
      atomic: () => real.atomic() as never,
    };
    const errors: Error[] = [];
    const onError = (error: Error) => errors.push(error);
    const store = opened.store({ kv, timeout: 0.1, onError });
    const call = limitedCall({ store });
    assertEquals(await passes(() => call(), 3), 3);
    isHanging = true;
    const begun = performance.now();
    assertEquals(await passAtOnce(1_000, () => call()), 5);
    assert(performance.now() - begun < 5_000);
    assertEquals(errors.length, 1);
    isHanging = false;
    assertEquals(await passes(() => call()), 2);
    isHanging = true;
    assert(await call() > 0);
    assertEquals(errors.length, 2, "another outage");
    held.resolve();
  }),
);
