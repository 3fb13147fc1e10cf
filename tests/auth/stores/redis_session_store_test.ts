import { assert, assertEquals, assertRejects } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import { createRedisSessionStore } from "@quartet/kit/auth/redis";
import type { RedisSessionStoreOptions } from "@quartet/kit/auth/redis";
import { createClient } from "redis";
import { CLIENTS, makeClient } from "../../cluster/clients.ts";
import { UNHURRIED } from "../../helpers.ts";
import { anyRedis, hasRedis, needsRedis } from "../../redis_server.ts";
import { createClock, startAuth } from "../harness.ts";
import { idsOf, recordOf, START, testSessionStore } from "./store_contract.ts";

const title = (name: string) => needsRedis(name, hasRedis);
const ignore = !hasRedis;

for (const name of CLIENTS) {
  testSessionStore({
    name: `createRedisSessionStore() with ${name}`,
    title,
    ignore,
    hasConnection: true,
    async make() {
      const redis = await openRedis();
      const { client } = redis.stack.use(
        makeClient(name, { url: redis.url }),
      );
      return { ...redis, open: () => redis.store({ client }) };
    },
  });
}

/** Starts a Redis, and opens stores in it as several processes would. */
async function openRedis() {
  await using opening = new AsyncDisposableStack();
  const { url } = opening.use(await anyRedis());
  const client = opening.adopt(
    await createClient({ url }).connect(),
    (client) => client.close(),
  );
  const name = `test ${crypto.randomUUID()}`;
  const base = `{${name}}:`;
  const clock = { time: START };
  const keys = async () =>
    (await client.keys(`${base}*`)).map((key) => key.slice(base.length))
      .toSorted();
  opening.defer(async () => {
    for (const key of await keys()) await client.del(base + key);
  });
  const stack = opening.move();
  return {
    url,
    client,
    name,
    base,
    clock,
    keys,
    stack,
    store: (options: Partial<RedisSessionStoreOptions> = {}) =>
      stack.use(createRedisSessionStore({
        client,
        ...(options.prefix === undefined ? { name } : {}),
        now: () => clock.time,
        timeout: UNHURRIED,
        ...options,
      })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
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

test("A Redis store writes only below its name and leaves nothing behind", async (redis) => {
  const store = redis.store();
  const other = redis.store({ name: `${redis.name}x` });
  await store.set(recordOf("a"));
  await store.set(recordOf("b"));
  assertEquals(await redis.keys(), ["id:a", "id:b", "user:ada"]);
  assertEquals(await other.get("a"), undefined);
  assertEquals(await other.deleteByUser("ada"), 0);
  await store.delete("a");
  await store.deleteByUser("ada");
  assertEquals(await redis.keys(), []);
});

test("All keys of a Redis store share one hash tag, with any prefix", async (redis) => {
  const { client } = redis;
  const own = crypto.randomUUID();
  for (
    const [prefix, start] of [
      [`${own}:`, `{${own}:}`],
      [`a{${own}}:`, `a{${own}}:`],
      [`{}${own}`, `{{}${own}}`],
      [`${own}{`, `{${own}{}`],
    ] as const
  ) {
    const store = redis.store({ prefix });
    await store.set(recordOf("a"));
    const found = [`${start}id:a`, `${start}user:ada`];
    assertEquals(await client.exists(found), 2, prefix);
    await store.deleteByUser("ada");
    assertEquals(await client.exists(found), 0, prefix);
  }
});

test("Redis expires a session, and the user's list with its last session", async (redis) => {
  const { client, base } = redis;
  const store = redis.store();
  const MINUTE = 60_000;
  const isAbout = async (key: string, ms: number) => {
    const left = await client.pTTL(base + key);
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

test("A new session removes expired ones from the user's list, by the clock of Redis", async (redis) => {
  const { client, base } = redis;
  const store = redis.store();
  await store.set(recordOf("a"));
  await client.zAdd(`${base}user:ada`, [
    { score: 1, value: "old" },
    { score: Date.now() + 60_000, value: "new" },
  ]);
  // This process's clock is a year ahead.
  redis.clock.time = START + 365 * 86_400_000;
  await store.set(recordOf("b", "ada", { expiresAt: redis.clock.time + 1e6 }));
  assertEquals(
    (await client.zRange(`${base}user:ada`, 0, -1)).toSorted(),
    ["a", "b", "new"],
  );
});

test("A Redis store revokes all of one user's very many sessions", async (redis) => {
  const store = redis.store();
  const ids = Array.from({ length: 1_234 }, (_, i) => `${i}`);
  await Promise.all(ids.map((id) => store.set(recordOf(id))));
  assertEquals((await store.listByUser("ada")).length, 1_234);
  assertEquals(await store.deleteByUser("ada"), 1_234);
  assertEquals(await redis.keys(), []);
});

test("Concurrent revocations and refreshes through separate connections work", async (redis) => {
  const [here, there] = [redis.store(), redis.store()];
  for (let round = 0; round < 100; round++) {
    await here.set(recordOf("a"));
    await Promise.all([
      here.touch!(recordOf("a")),
      here.touch!(recordOf("a")),
      round % 2 === 0 ? there.deleteByUser("ada") : there.delete("a"),
      here.touch!(recordOf("a")),
    ]);
    assertEquals(await there.get("a"), undefined);
    assertEquals(await redis.keys(), []);
  }
});

test("A session that Redis has dropped isn't refreshed", async (redis) => {
  const { client, base } = redis;
  const store = redis.store();
  await store.set(recordOf("a"));
  // As if it expired.
  await client.del(`${base}id:a`);
  assertEquals(await store.touch!(recordOf("a")), false);
  assertEquals(await store.get("a"), undefined);
  assertEquals(await idsOf(store), []);
});

test("A session whose user's list is lost isn't refreshed", async (redis) => {
  const store = redis.store();
  await store.set(recordOf("a"));
  await redis.client.del(`${redis.base}user:ada`);
  assertEquals(await store.touch!(recordOf("a")), false);
});

test("An invalid entry under a session's key in Redis is ignored", async (redis) => {
  const { client, base } = redis;
  const store = redis.store();
  await store.set(recordOf("a"));
  const good = await client.get(`${base}id:a`) ?? "";
  const [ends, user, json] = good.split("\n");
  for (
    const text of [
      "",
      "{",
      "null",
      "[]",
      "{}",
      json!,
      `soon\n${user}\n${json}`,
      `${ends}\n${json}`,
      `\n\n\n`,
    ]
  ) {
    await client.set(`${base}id:a`, text);
    assertEquals(await store.touch!(recordOf("a")), false, text);
    assertEquals(await store.deleteByUser("ada"), 0, text);
    await store.delete("a");
    assertEquals(await redis.keys(), [], text);
    await store.set(recordOf("a"));
    assert(await store.get("a") !== undefined);
  }
  for (const record of ["{", "null", "{}", json!.replace('"a"', '"b"')]) {
    await client.set(`${base}id:a`, `${ends}\n${user}\n${record}`);
    assertEquals(await store.get("a"), undefined, record);
    assertEquals(await idsOf(store), [], record);
  }
});

test("Each operation of a Redis store is one command", async (redis) => {
  const { client } = redis;
  const store = redis.store();
  const id = crypto.randomUUID();
  const operations = {
    set: () => store.set(recordOf(id)),
    get: () => store.get(id),
    touch: () => store.touch!(recordOf(id)),
    listByUser: () => store.listByUser("ada"),
    delete: () => store.delete(id),
    deleteByUser: () => store.deleteByUser("ada"),
  };
  // This loads the scripts into Redis.
  for (const run of Object.values(operations)) await run();
  for (const [name, run] of Object.entries(operations)) {
    const before = await countCommands(client);
    await run();
    const after = await countCommands(client);
    const sent = after.map((calls, i) => calls - before[i]!);
    // A script may call GET too.
    if (name === "get") assertEquals(sent, [1, 0, 0]);
    else assertEquals(sent.slice(1), [1, 0], name);
  }
});

test("The session check of a request is one GET", async (redis) => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    const clock = createClock();
    const store = redis.store({ now: clock.now });
    await using server = await startAuth({
      clock,
      session: { strategy, store },
    });
    const browser = await server.signIn();
    const before = await countCommands(redis.client);
    for (let i = 0; i < 10; i++) {
      assertEquals((await browser.json("/me")).user.id, "1");
    }
    const after = await countCommands(redis.client);
    const sent = after.map((calls, i) => calls - before[i]!);
    assertEquals(sent, [10, 0, 0], strategy);
  }
});

/** Counts the calls of GET, EVALSHA and EVAL. */
async function countCommands(client: TestRedis["client"]): Promise<number[]> {
  const text = await client.info("commandstats");
  return ["get", "evalsha", "eval"].map((name) =>
    Number(text.match(`cmdstat_${name}:calls=(\\d+)`)?.[1] ?? 0)
  );
}

test("A Redis store closes only its own connection, not the client", async (redis) => {
  const { url } = redis;
  for (const name of CLIENTS) {
    const { client } = redis.stack.use(makeClient(name, { url }));
    const store = redis.store({ client });
    await store.set(recordOf("a"));
    assertEquals((await store.get("a"))?.id, "a");
    const idle = client as { isOpen?: boolean; status?: string };
    assertEquals(idle.isOpen ?? idle.status === "ready", false);
    await store.close();
    const error = await assertRejects(
      async () => await store.get("a"),
      UnavailableError,
    );
    assertEquals(error.message, "Cannot reach session store: it is closed");
  }
  assertEquals(await redis.client.ping(), "PONG");
});
