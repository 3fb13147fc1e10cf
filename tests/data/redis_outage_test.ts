/**
 * Caches in several processes during faults of their shared Redis or of one
 * process. Each test starts its own server.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Cache, type CacheStore, createCache } from "@quartet/kit/data";
import {
  createRedisStore,
  type RedisStoreOptions,
} from "@quartet/kit/data/redis";
import { createClient } from "redis";
import { CLIENTS, makeClient } from "../cluster/clients.ts";
import { eventually } from "../cluster/redis_topology.ts";
import { startDeno } from "../helpers.ts";
import {
  hasRedisServer,
  needsRedis,
  type RedisServer,
  startRedis,
} from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { lockKey, until } from "./store_contract.ts";

const NAME = "test";
/** Settings of a server that has written to disk whatever it confirmed. */
const DURABLE = ["--appendonly", "yes", "--appendfsync", "always"];

/** A cache as one process would have it. */
interface Process extends AsyncDisposable {
  readonly cache: Cache;
  readonly store: CacheStore;
  /** Errors of the store that were reported. */
  readonly errors: unknown[];
}

function open(url: string, options: Partial<RedisStoreOptions> = {}): Process {
  const store = createRedisStore({
    // By default, a client that is no longer needed waits before it closes.
    client: createClient({ url, socket: { reconnectStrategy: false } }),
    name: NAME,
    ...options,
  });
  const errors: unknown[] = [];
  const cache = createCache({ store, onError: (error) => errors.push(error) });
  return {
    cache,
    store,
    errors,
    [Symbol.asyncDispose]: () => cache.close(),
  };
}

/** Data that is cached by its version. */
class Source {
  version = 1;
  reads = 0;

  load({ cache }: Process, key = "k"): Promise<number> {
    return cache.cached(key, async () => {
      this.reads++;
      const { version } = this;
      await undefined;
      return version;
    }, { maxAge: 600, tags: ["a"] });
  }
}

/** Waits until the store of a process is connected. */
async function connected({ store }: Process): Promise<void> {
  await until(() => store.get!("").then(() => true, () => false));
}

function test(
  name: string,
  settings: readonly string[],
  fn: (redis: RedisServer) => Promise<void>,
): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      await using redis = await startRedis(settings);
      await fn(redis);
    }),
  });
}

/** Sends a command to Redis. */
async function send(url: string, ...command: string[]): Promise<unknown> {
  const client = await createClient({ url }).connect();
  try {
    return await client.sendCommand(command);
  } finally {
    await client.close();
  }
}

test(
  "An invalidation in one process is visible in another",
  [],
  async (redis) => {
    await using child = startDeno([
      "run",
      "-A",
      "tests/data/store_process.ts",
      redis.url,
      NAME,
      "hear",
    ]);
    await using here = open(redis.url);
    await child.printed(/^kept$/m);
    const { success } = await here.cache.revalidateTag("a");
    assert(success);
    await child.printed(/^seen$/m);
    assertEquals([await child.code, child.stderr], [0, ""]);
  },
);

test(
  "If a computing process is killed, one other takes over after the lock ends",
  [],
  async (redis) => {
    const source = new Source();
    await using child = startDeno([
      "run",
      "-A",
      "tests/data/store_process.ts",
      redis.url,
      NAME,
      "hang",
    ]);
    await child.printed(/^computing$/m);
    await using one = open(redis.url);
    await using other = open(redis.url);
    const calls = Promise.all([source.load(one), source.load(other)]);
    const lock = `{${NAME}}:cache-lock:k`;
    await until(async () =>
      await send(redis.url, "HGET", lock, "awaited") === "1"
    );
    child.kill("SIGKILL");
    await child.code;
    assertEquals(await calls, [1, 1]);
    assertEquals(source.reads, 1);
    assertEquals([...one.errors, ...other.errors], []);
  },
);

test(
  "A restart of Redis causes neither failed calls nor stale values",
  DURABLE,
  async (redis) => {
    const source = new Source();
    const processes = [1, 2, 3].map(() => open(redis.url));
    const [one, ...others] = processes as [Process, ...Process[]];
    for (const process of processes) await source.load(process);
    let stop = false;
    let calls = 0;
    const load = processes.map(async (process, i) => {
      while (!stop) {
        // Some values are in memory, others need a call to Redis.
        await source.load(process, `k${calls++ % 7}:${i % 2}:${calls % 500}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    for (let round = 0; round < 3; round++) {
      const before = calls;
      await until(() => calls > before + 100);
      // Redis is killed while it receives this invalidation.
      source.version++;
      const told = one.cache.revalidateTag("a");
      await redis.crash();
      const during = calls;
      await until(() => calls > during + 100);
      // This invalidation happens during the outage.
      source.version++;
      assertEquals((await others[0]!.cache.revalidateTag("a")).success, false);
      assertEquals(await source.load(others[0]!), source.version);
      await told;
      await redis.restart();
      for (const process of processes) await connected(process);
      // The process that has the invalidation passes it on after reconnecting.
      for (const process of processes) {
        await until(async () => await source.load(process) === source.version);
      }
      for (let i = 0; i < 20; i++) {
        for (const process of processes) {
          assertEquals(await source.load(process, `${i % 4}`), source.version);
        }
      }
    }
    stop = true;
    await Promise.all(load);
    for (const process of processes) {
      assert(process.errors.length >= 1 && process.errors.length <= 6);
      await process[Symbol.asyncDispose]();
    }
  },
);

test(
  "A value invalidated after the last save of Redis isn't valid again after a crash",
  [],
  async (redis) => {
    const source = new Source();
    await using one = open(redis.url);
    await using other = open(redis.url);
    await source.load(one, "shared");
    await source.load(other, "memory");
    await send(redis.url, "SAVE");
    source.version++;
    await one.cache.revalidateTag("a");
    await redis.crash();
    await redis.restart();
    // Redis has the value again, but not the invalidation.
    const keys = await send(redis.url, "KEYS", `{${NAME}}:cache:*`) as string[];
    assert(keys.includes(`{${NAME}}:cache:shared`), keys.join());
    await using late = open(redis.url);
    for (const process of [late, other, one]) {
      await connected(process);
      for (const key of ["shared", "memory"]) {
        assertEquals(await source.load(process, key), 2);
      }
    }
    // A restart begins a new epoch only once: later values are found again.
    const { reads } = source;
    await using later = open(redis.url);
    assertEquals(await source.load(later, "shared"), 2);
    assertEquals(source.reads, reads);
  },
);

for (
  const [what, ...command] of [
    ["all of Redis", "FLUSHALL"],
    ["the log of invalidations", "DEL", `{${NAME}}:cache-scopes`],
    ["the name of the epoch", "DEL", `{${NAME}}:cache-meta`],
  ] as [string, ...string[]][]
) {
  test(
    `When ${what} is deleted, no earlier value is valid`,
    [],
    async (redis) => {
      const source = new Source();
      await using one = open(redis.url);
      await using other = open(redis.url);
      // The numbers start high, so those after the deletion are lower.
      await one.cache.revalidateTag(
        ...Array.from({ length: 50 }, (_, i) => `${i}`),
      );
      await source.load(one);
      await source.load(one, "old");
      await source.load(other);
      await one.cache.revalidateTag("a");
      source.version++;
      assertEquals(await source.load(one), 2);
      await send(redis.url, ...command);
      await using next = open(redis.url);
      assertEquals(await source.load(next, "old"), 2);
      source.version++;
      await one.cache.revalidateTag("a");
      await until(async () => await source.load(other) === 3);
      assertEquals(await source.load(one), 3);
      await using late = open(redis.url);
      assertEquals(await source.load(late), 3);
      assertEquals([...one.errors, ...other.errors], []);
    },
  );
}

test(
  "A silent Redis delays few calls and fails none",
  [],
  async (redis) => {
    const source = new Source();
    await using one = open(redis.url, { timeout: 0.5 });
    await using other = open(redis.url, { timeout: 0.5 });
    await source.load(one);
    await source.load(other);
    redis.signal("SIGSTOP");
    source.version++;
    assertEquals((await one.cache.revalidateTag("a")).success, false);
    for (let i = 0; i < 50; i++) {
      assertEquals(
        await source.load(one, `${i}`),
        2,
      );
    }
    assertEquals(await source.load(one), 2);
    // It hasn't received the invalidation and serves its memory.
    assertEquals(await source.load(other), 1);
    assertEquals(one.errors.length, 1, one.errors.join("; "));
    redis.signal("SIGCONT");
    await connected(one);
    await connected(other);
    await until(async () => await source.load(other) === 2);
    assertEquals(one.errors.length, 1);
  },
);

test(
  "Waiting for a lock ends when Redis goes silent",
  [],
  async (redis) => {
    await using one = open(redis.url, { timeout: 1 });
    await using other = open(redis.url, { timeout: 1 });
    await connected(one);
    await connected(other);
    assert(await lockKey(one.store, "k") !== undefined);
    let isOver = false;
    const waiting = lockKey(other.store, "k").catch(() => undefined)
      .finally(() => isOver = true);
    await until(async () =>
      isOver ||
      await send(redis.url, "HGET", `{${NAME}}:cache-lock:k`, "awaited") === "1"
    );
    redis.signal("SIGSTOP");
    assertEquals(await waiting, undefined);
    redis.signal("SIGCONT");
    await connected(other);
  },
);

for (const lost of [["FLUSHALL"], ["DEL", `{${NAME}}:cache-lock:k`]]) {
  test(
    `Waiting for a lock ends with its computation if ${
      lost[0]
    } deletes the lock`,
    [],
    async (redis) => {
      await using one = open(redis.url, { lockTime: 600 });
      await using other = open(redis.url, { lockTime: 600 });
      await connected(one);
      await connected(other);
      const release = await lockKey(one.store, "k");
      let isOver = false;
      const waiting = lockKey(other.store, "k").finally(() => isOver = true);
      await until(async () =>
        await send(redis.url, "HGET", `{${NAME}}:cache-lock:k`, "awaited") ===
          "1"
      );
      await send(redis.url, ...lost);
      await release!();
      await eventually("the other wakes", () => isOver);
      await waiting;
    },
  );
}

for (const name of CLIENTS) {
  Deno.test(`close() leaves no connection open to a server that hangs during connecting: ${name}`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr as Deno.NetAddr;
    let open = 0;
    const accepting = (async () => {
      for await (const connection of listener) {
        open++;
        connection.readable.pipeTo(new WritableStream())
          .catch(() => {}).finally(() => open--);
      }
    })().catch(() => {});
    const { client } = makeClient(name, { url: `redis://127.0.0.1:${port}` });
    const store = createRedisStore({ client, name: NAME });
    const asked = store.get!("k").catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve));
    await store.close();
    await asked;
    // The sockets open after that and are closed.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await eventually("all are closed", () => open === 0);
    listener.close();
    await accepting;
  });
}

test(
  "A full Redis is reported once, not for each call",
  ["--maxmemory-policy", "noeviction"],
  async (redis) => {
    const source = new Source();
    await using one = open(redis.url);
    await using other = open(redis.url);
    await connected(other);
    const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
    for (const key of keys) await source.load(one, key);
    await one.cache.close();
    await redis.send("CONFIG", "SET", "maxmemory", "1");
    for (const key of keys) {
      assertEquals(await source.load(other, key), 1);
      assertEquals(await source.load(other, `new ${key}`), 1);
    }
    assertEquals((await other.cache.revalidateTag("a")).success, false);
    // Heartbeats continue meanwhile and try to send the invalidation.
    await new Promise((resolve) => setTimeout(resolve, 1_600));
    assertEquals(source.reads, 60);
    assertEquals(other.errors.length, 1);
    assertMatch(`${other.errors[0]}`, /Cannot reach cache store: OOM /);
  },
);

test(
  "Connections that break at any moment lose no invalidation",
  [],
  async (redis) => {
    const source = new Source();
    await using one = open(redis.url);
    await using other = open(redis.url);
    await using third = open(redis.url);
    const processes = [one, other, third];
    const client = await createClient({ url: redis.url }).connect();
    try {
      for (let round = 0; round < 30; round++) {
        for (const process of processes) {
          await until(async () =>
            await source.load(process) === source.version
          );
        }
        const type = round % 3 === 0 ? "normal" : "pubsub";
        const kill = ["CLIENT", "KILL", "TYPE", type, "SKIPME", "yes"];
        const killed = client.sendCommand(kill);
        if (round % 2 === 0) await killed;
        source.version++;
        await processes[round % 3]!.cache.revalidateTag("a");
        assertEquals(await source.load(processes[round % 3]!), source.version);
        await killed;
      }
    } finally {
      await client.close();
    }
    for (const process of processes) {
      await connected(process);
      assertEquals(await source.load(process), source.version);
    }
  },
);

test(
  "A fault is reported once per outage, and each outage's invalidation arrives",
  DURABLE,
  async (redis) => {
    const source = new Source();
    await using one = open(redis.url);
    await using other = open(redis.url);
    for (let outage = 1; outage <= 3; outage++) {
      await source.load(one);
      await redis.crash();
      for (let i = 0; i < 10; i++) await source.load(one, `${outage}:${i}`);
      for (let i = 0; i < 10; i++) await one.cache.revalidateTag(`${i}`);
      assertEquals(one.errors.length, outage);
      source.version++;
      await one.cache.revalidateTag("a");
      await redis.restart();
      await connected(other);
      await until(async () => await source.load(other) === source.version);
      await connected(one);
      assertEquals(await source.load(one), source.version);
    }
    const { message } = one.errors[0] as Error;
    assert(!message.includes("127.0.0.1"), message);
  },
);

test(
  "Tens of thousands of invalidations during an outage become one of everything",
  DURABLE,
  async (redis) => {
    const source = new Source();
    await using one = open(redis.url);
    await using other = open(redis.url);
    for (const process of [one, other]) await source.load(process);
    await redis.crash();
    for (let i = 0; i < 20_000; i++) {
      const done = one.cache.revalidateTag(`${i}`);
      if (i % 1_000 === 0) {
        await done;
        // Cached and new values are still distinguished.
        source.version++;
        await one.cache.revalidateTag("a");
        assertEquals(await source.load(one), source.version);
        assertEquals(await source.load(one), source.version);
      }
    }
    await redis.restart();
    await connected(one);
    await until(async () => await source.load(other) === source.version);
    assertEquals(await source.load(one), source.version);
    await using late = open(redis.url);
    assertEquals(await source.load(late), source.version);
  },
);

test(
  "A cache works before Redis is available, and shares values after that",
  DURABLE,
  async (redis) => {
    const source = new Source();
    await redis.crash();
    await using one = open(redis.url);
    for (let i = 0; i < 5; i++) assertEquals(await source.load(one), 1);
    assertEquals([source.reads, one.errors.length], [1, 1]);
    source.version++;
    await one.cache.revalidateTag("a");
    assertEquals(await source.load(one), 2);
    await redis.restart();
    await connected(one);
    // Other processes may have invalidated it before, so it's computed once
    // more.
    assertEquals(await source.load(one), 2);
    const { reads } = source;
    await using other = open(redis.url);
    assertEquals(await source.load(other), 2);
    assertEquals(source.reads, reads);
  },
);

test(
  "A value that can't be shared is reported as NOT_DATA, not as an outage",
  [],
  async (redis) => {
    class Money {}
    await using one = open(redis.url);
    const load = (key: string) =>
      one.cache.cached(key, () => new Money(), { maxAge: 60 });
    assert(await load("a") === await load("a"));
    await load("b");
    await until(() => one.errors.length === 2);
    assertEquals(
      one.errors.map((error) => (error as { code: string }).code),
      ["NOT_DATA", "NOT_DATA"],
    );
  },
);
