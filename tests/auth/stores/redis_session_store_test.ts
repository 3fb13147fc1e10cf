import { assert, assertEquals, assertRejects } from "@std/assert";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import { createClient } from "redis";
import { anyRedis, hasRedis, needsRedis } from "../../redis_server.ts";
import { idsOf, recordOf, START, testSessionStore } from "./store_contract.ts";

const title = (name: string) => needsRedis(name, hasRedis);
const ignore = !hasRedis;

testSessionStore({
  name: "createRedisSessionStore()",
  title,
  ignore,
  async make() {
    const redis = await openRedis();
    return { ...redis, open: redis.store };
  },
});

/** A Redis, and stores in it that stand for several processes. */
async function openRedis() {
  const redis = await anyRedis();
  const connect = () => createClient({ url: redis.url }).connect();
  const client = await connect();
  const prefix = `test:${crypto.randomUUID()}:`;
  const clock = { time: START };
  const keys = async () => (await client.keys(`${prefix}*`)).toSorted();
  return {
    client,
    prefix,
    clock,
    keys,
    connect,
    store: () =>
      createRedisSessionStore({ client, prefix, now: () => clock.time }),
    async [Symbol.asyncDispose]() {
      for (const key of await keys()) await client.del(key);
      await client.close();
      await redis[Symbol.asyncDispose]();
    },
  };
}

type TestRedis = Awaited<ReturnType<typeof openRedis>>;

function test(name: string, fn: (redis: TestRedis) => Promise<void>): void {
  Deno.test({
    name: title(name),
    ignore,
    async fn() {
      await using redis = await openRedis();
      await fn(redis);
    },
  });
}

test("A Redis store keeps to its prefix, and leaves nothing behind", async (redis) => {
  const { client, prefix } = redis;
  const store = redis.store();
  const other = createRedisSessionStore({
    client,
    prefix: `${prefix}x`,
    now: () => START,
  });
  await store.set(recordOf("a"));
  await store.set(recordOf("b"));
  assertEquals(await redis.keys(), [
    `${prefix}id:a`,
    `${prefix}id:b`,
    `${prefix}user:ada`,
  ]);
  assertEquals(await other.get("a"), undefined);
  assertEquals(await other.deleteByUser("ada"), 0);
  await store.delete("a");
  await store.deleteByUser("ada");
  assertEquals(await redis.keys(), []);
});

test("Redis drops a session when it is over, and the list with the last", async (redis) => {
  const { client, prefix } = redis;
  const store = redis.store();
  const MINUTE = 60_000;
  const isAbout = async (key: string, ms: number) => {
    const left = await client.pTTL(prefix + key);
    assert(left > ms - MINUTE / 2 && left <= ms, `${left}`);
  };
  const record = (id: string, ms: number) =>
    recordOf(id, "ada", { expiresAt: START + ms });
  await store.set(record("a", 10 * MINUTE));
  await store.set(record("b", 5 * MINUTE));
  await isAbout("id:a", 10 * MINUTE);
  await isAbout("id:b", 5 * MINUTE);
  await isAbout("user:ada", 10 * MINUTE);
  await store.touch!(record("b", 20 * MINUTE));
  await isAbout("id:b", 20 * MINUTE);
  await isAbout("user:ada", 20 * MINUTE);
  await store.set(record("c", Number.MAX_VALUE));
  assertEquals((await store.get("c"))?.expiresAt, Number.MAX_VALUE);
});

test("A user's list forgets what is over when a session comes, by the clock of Redis", async (redis) => {
  const { client, prefix } = redis;
  const store = redis.store();
  await store.set(recordOf("a"));
  await client.zAdd(`${prefix}user:ada`, [
    { score: 1, value: "old" },
    { score: Date.now() + 60_000, value: "new" },
  ]);
  // This process is ahead of the others by a year.
  redis.clock.time = START + 365 * 86_400_000;
  await store.set(recordOf("b", "ada", { expiresAt: redis.clock.time + 1e6 }));
  assertEquals(
    (await client.zRange(`${prefix}user:ada`, 0, -1)).toSorted(),
    ["a", "b", "new"],
  );
});

test("A Redis store of very many sessions of one user revokes all of them", async (redis) => {
  const store = redis.store();
  const ids = Array.from({ length: 1_234 }, (_, i) => `${i}`);
  await Promise.all(ids.map((id) => store.set(recordOf(id))));
  assertEquals((await store.listByUser("ada")).length, 1_234);
  assertEquals(await store.deleteByUser("ada"), 1_234);
  assertEquals(await redis.keys(), []);
});

test("Processes with connections of their own revoke and refresh at once", async (redis) => {
  const { prefix } = redis;
  const clients = [await redis.connect(), await redis.connect()];
  try {
    const [here, there] = clients.map((client) =>
      createRedisSessionStore({ client, prefix, now: () => START })
    );
    for (let round = 0; round < 100; round++) {
      await here!.set(recordOf("a"));
      await Promise.all([
        here!.touch!(recordOf("a")),
        here!.touch!(recordOf("a")),
        round % 2 === 0 ? there!.deleteByUser("ada") : there!.delete("a"),
        here!.touch!(recordOf("a")),
      ]);
      assertEquals(await there!.get("a"), undefined);
      assertEquals(await redis.keys(), []);
    }
  } finally {
    for (const client of clients) await client.close();
  }
});

test("A refresh that has read a session writes nothing if it is gone before that", async (redis) => {
  const { client, prefix } = redis;
  const store = redis.store();
  const ends = [
    () => store.delete("a"),
    () => store.deleteByUser("ada"),
    // As when it expires.
    () => client.del(`${prefix}id:a`),
  ];
  for (const end of ends) {
    await store.set(recordOf("a"));
    const late = createRedisSessionStore({
      client: {
        async get(key) {
          const text = await client.get(key);
          await end();
          return text;
        },
        zRange: (key, start, stop) => client.zRange(key, start, stop),
        eval: (script, options) => client.eval(script, options),
      },
      prefix,
      now: () => START,
    });
    assertEquals(await late.touch!(recordOf("a")), false);
    assertEquals(await store.get("a"), undefined);
    assertEquals(await idsOf(store), []);
  }
});

test("A session whose user's list is lost is not refreshed", async (redis) => {
  const store = redis.store();
  await store.set(recordOf("a"));
  await redis.client.del(`${redis.prefix}user:ada`);
  assertEquals(await store.touch!(recordOf("a")), false);
});

test("What is in Redis under a session's key and is none is nobody's session", async (redis) => {
  const { client, prefix } = redis;
  const store = redis.store();
  await store.set(recordOf("a"));
  const good = await client.get(`${prefix}id:a`) ?? "";
  for (
    const text of ["", "{", "null", "[]", "{}", good.replace('"a"', '"b"')]
  ) {
    await client.set(`${prefix}id:a`, text);
    assertEquals(await store.get("a"), undefined);
    assertEquals(await idsOf(store), []);
    assertEquals(await store.touch!(recordOf("a")), false);
    await store.delete("a");
    assertEquals(await store.deleteByUser("ada"), 0);
    await store.set(recordOf("a"));
    assert(await store.get("a") !== undefined);
  }
});

test("A Redis store that can't reach Redis fails the request", async (redis) => {
  const client = await redis.connect();
  const store = createRedisSessionStore({ client });
  await client.close();
  await assertRejects(async () => await store.get("a"));
  await assertRejects(async () => await store.set(recordOf("a")));
  await assertRejects(async () => await store.touch!(recordOf("a")));
  await assertRejects(async () => await store.deleteByUser("ada"));
});
