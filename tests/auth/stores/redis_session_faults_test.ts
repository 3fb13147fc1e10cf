import { assert, assertEquals, assertRejects } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import type { SessionStore } from "@quartet/kit/auth";
import {
  createRedisSessionStore,
  type RedisSessionStoreOptions,
} from "@quartet/kit/auth/redis";
import { CLIENTS, makeClient } from "../../cluster/clients.ts";
import type { ClientName } from "../../cluster/clients.ts";
import { startFaultProxy } from "../../cluster/fault_proxy.ts";
import { eventually } from "../../cluster/redis_topology.ts";
import { UNHURRIED } from "../../helpers.ts";
import {
  hasRedisServer,
  needsRedis,
  type RedisServer,
  startRedis,
} from "../../redis_server.ts";
import { unlessStalled } from "../../stalls.ts";
import { startAuth } from "../harness.ts";
import { recordOf, START } from "./store_contract.ts";

/** Starts a Redis behind a proxy, and stores that connect through the proxy. */
async function startFaults(settings: readonly string[] = []) {
  await using opening = new AsyncDisposableStack();
  const server = opening.use(await startRedis(settings));
  const proxy = opening.use(startFaultProxy(server.port));
  const stack = opening.move();
  const reports: Error[] = [];
  return {
    server,
    proxy,
    /** The errors that the stores have reported. */
    reports,
    store(
      name: ClientName = "redis 6",
      options: Partial<RedisSessionStoreOptions> = {},
    ) {
      const { client } = stack.use(makeClient(name, { url: proxy.url }));
      return stack.use(createRedisSessionStore({
        client,
        now: () => START,
        onError: (error) => reports.push(error),
        ...options,
      }));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Faults = Awaited<ReturnType<typeof startFaults>>;

function test(
  name: string,
  fn: (faults: Faults) => Promise<void>,
  settings?: readonly string[],
): void {
  Deno.test({
    name: needsRedis(name, hasRedisServer),
    ignore: !hasRedisServer,
    fn: unlessStalled(async () => {
      await using faults = await startFaults(settings);
      await fn(faults);
    }),
  });
}

/** All operations of a store. */
const OPERATIONS: readonly ((store: SessionStore) => unknown)[] = [
  (store) => store.get("a"),
  (store) => store.set(recordOf("a")),
  (store) => store.touch!(recordOf("a")),
  (store) => store.delete("b"),
  (store) => store.deleteByUser("bob"),
  (store) => store.listByUser("ada"),
  (store) => store.ping!(),
];

/**
 * Starts all operations at once. Each must succeed, or fail as unavailable,
 * before the limit. Returns the number of failures.
 */
async function tryAll(store: SessionStore, limit: number): Promise<number> {
  const begun = performance.now();
  const results = await Promise.allSettled(
    OPERATIONS.map(async (run) => await run(store)),
  );
  const ms = performance.now() - begun;
  assert(ms < limit, `all of them took ${ms} ms`);
  const failures = results.flatMap((result) =>
    result.status === "rejected" ? [result.reason] : []
  );
  for (const failure of failures) {
    assert(failure instanceof UnavailableError, failure);
    assert(failure.message.startsWith("Cannot reach session store: "));
  }
  return failures.length;
}

/** Far more than all operations take with a timeout of a second or less. */
const HANG = 10_000;

/** Keeps a session as soon as a store with a short timeout is connected. */
async function untilKept(store: SessionStore): Promise<void> {
  await eventually("the store is connected", async () => {
    await store.set(recordOf("a"));
    return true;
  });
}

/** Returns the number of `DEL` that a server has run. */
async function deletionsOf(server: RedisServer): Promise<number> {
  const text = await server.send("INFO", "commandstats") as string;
  return Number(/^cmdstat_del:calls=(\d+)/m.exec(text)?.[1] ?? 0);
}

for (const name of CLIENTS) {
  test(`With ${name}, silent connections time out each call, and calls work again within 2 s`, async ({ proxy, reports, store: make }) => {
    const store = make(name);
    await store.set(recordOf("a"));
    proxy.set("silent");
    const begun = performance.now();
    await tryAll(store, 2_000);
    while (await tryAll(store, 2_000) > 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const ms = performance.now() - begun;
    assert(ms < 2_000, `it took ${ms} ms`);
    assertEquals((await store.get("a"))?.id, "a");
    assert(reports.length <= 1, `${reports}`);
  });

  test(`With ${name}, an idle store notices a silent connection by itself`, async ({ proxy, store: make }) => {
    const store = make(name, { timeout: 0.2 });
    await untilKept(store);
    proxy.set("silent");
    // The old connection is replaced without a call.
    const before = proxy.connections;
    await eventually(
      "the store has reconnected",
      () => proxy.connections > before,
    );
    await eventually("it works", async () => {
      return (await store.get("a"))?.id === "a";
    });
  });

  test(`With ${name}, calls fail at once while Redis is unreachable, and one report is sent`, async ({ proxy, server, reports, store: make }) => {
    const store = make(name, { timeout: 1 });
    await untilKept(store);
    reports.length = 0;
    for (const mode of ["black hole", "refuse"] as const) {
      proxy.set(mode);
      await eventually("it is noticed", async () => {
        return await tryAll(store, HANG) === OPERATIONS.length;
      });
      assertEquals(await tryAll(store, HANG), OPERATIONS.length);
      proxy.set("forward");
      await eventually("it works again", async () => {
        return await tryAll(store, HANG) === 0;
      });
      assertEquals((await store.get("a"))?.id, "a");
      // An outage ends once a heartbeat succeeds, which is a DEL.
      const beats = await deletionsOf(server);
      await eventually("its heart beats", async () => {
        return await deletionsOf(server) > beats;
      });
      await store.get("a");
    }
    assertEquals(reports.length, 2, `${reports}`);
    for (const report of reports) {
      assert(report instanceof UnavailableError);
      assert(/^Cannot reach session store: /.test(report.message));
    }
  });

  test(`With ${name}, a listener is notified after each lost connection that events may be missing`, async ({ proxy, server, store: make }) => {
    const here = make(name, { timeout: 0.3 });
    const { client } = makeClient(name, { url: server.url });
    await using there = createRedisSessionStore({
      client,
      now: () => START,
      timeout: UNHURRIED,
    });
    const heard: (string | undefined)[] = [];
    const stop = here.onEnded((ids) => heard.push(...ids ?? [undefined]));
    await eventually("it listens", () => heard.length > 0);
    for (const mode of ["silent", "refuse", "black hole"] as const) {
      for (const id of ["a", "b"]) await there.set(recordOf(id));
      heard.length = 0;
      proxy.set(mode);
      if (mode !== "silent") {
        await eventually("it is lost", async () => {
          return await tryAll(here, HANG) > 0;
        });
      }
      await there.delete("a");
      proxy.set("forward");
      await eventually("it is told", () => heard.includes(undefined));
      await eventually("it hears again", async () => {
        heard.length = 0;
        await there.set(recordOf("b"));
        await there.delete("b");
        await eventually("it hears something", () => heard.length > 0);
        return heard[0] === "b";
      });
    }
    stop();
  });
}

test("While Redis refuses subscriptions, a listener is notified that events may be missing", async ({ server, store: make }) => {
  const store = make();
  await store.set(recordOf("a"));
  const heard: unknown[] = [];
  const stop = store.onEnded((ids) => heard.push(ids));
  await eventually("the store listens", () => heard.length > 0);
  await server.send("ACL", "SETUSER", "default", "resetchannels");
  await eventually("the listener is notified repeatedly", async () => {
    assertEquals((await store.get("a"))?.id, "a");
    return heard.length > 4;
  });
  assertEquals([...new Set(heard)], [undefined]);
  stop();
});

test("A store subscribes only while it has listeners", async ({ proxy, store: make }) => {
  const store = make();
  await store.ping();
  assertEquals(proxy.connections, 1);
  const stops = [store.onEnded(() => {}), store.onEnded(() => {})];
  await eventually("it listens", () => proxy.connections === 2);
  stops[0]!();
  stops[0]!();
  await store.ping();
  assertEquals(proxy.connections, 2);
  stops[1]!();
  await eventually("it has stopped", () => proxy.connections === 1);
  const stop = store.onEnded(() => {});
  await eventually("it listens again", () => proxy.connections === 2);
  stop();
});

test("A store works after a restart of Redis, which loses its scripts", async ({ server, store: make }) => {
  const store = make();
  await store.set(recordOf("a"));
  await server.crash();
  await assertRejects(
    async () => await store.set(recordOf("a")),
    UnavailableError,
  );
  await server.restart();
  await eventually("it works again", async () => {
    await store.set(recordOf("a"));
    return (await store.get("a"))?.id === "a";
  });
});

test(
  "With a full Redis, sessions can be read and ended but not created, and one report is sent",
  async ({ server, reports, store: make }) => {
    const store = make();
    await store.set(recordOf("a"));
    await server.send("CONFIG", "SET", "maxmemory", "1");
    for (let i = 0; i < 3; i++) {
      await assertRejects(
        async () => await store.set(recordOf("b")),
        UnavailableError,
        "OOM",
      );
      assertEquals((await store.get("a"))?.id, "a");
    }
    assertEquals(reports.length, 1);
    await store.delete("a");
    assertEquals(await store.get("a"), undefined);
    await server.send("CONFIG", "SET", "maxmemory", "0");
    await store.set(recordOf("b"));
  },
);

test("With a read-only Redis, sessions can be read, but not created or ended", async ({ server, reports, store: make }) => {
  const store = make();
  await store.set(recordOf("a"));
  await server.send("CONFIG", "SET", "min-replicas-to-write", "1");
  for (const change of [OPERATIONS[1]!, () => store.delete("a")]) {
    const error = await assertRejects(
      async () => await change(store),
      UnavailableError,
    );
    assert(error.message.includes("NOREPLICAS"), error.message);
  }
  assertEquals((await store.get("a"))?.id, "a");
  assertEquals(reports.length, 1);
  await server.send("CONFIG", "SET", "min-replicas-to-write", "0");
  await store.delete("a");
});

test("Errors of Redis never contain its password", async ({ server, reports }) => {
  const password = "a password to be hidden";
  await server.send("CONFIG", "SET", "requirepass", password);
  const url = `redis://:wrong-${encodeURIComponent(password)}@127.0.0.1:`;
  for (const name of CLIENTS) {
    const { client } = makeClient(name, { url: `${url}${server.port}` });
    await using store = createRedisSessionStore({
      client,
      onError: (error) => reports.push(error),
    });
    const error = await assertRejects(
      async () => await store.get("a"),
      UnavailableError,
    );
    for (const { message } of [error, reports.at(-1)!]) {
      assert(message.startsWith("Cannot reach session store: "), message);
      assert(!message.includes("password that"), message);
    }
  }
});

test(
  "Errors of Redis never contain a session or its id",
  async ({ store: make }) => {
    for (const name of CLIENTS) {
      const store = make(name);
      const record = recordOf("an id to be hidden");
      for (
        const call of [
          async () => await store.set(record),
          async () => void await store.get(record.id),
        ]
      ) {
        const error = await assertRejects(call, Error, "unknown command");
        const shown = `${error.stack}${Deno.inspect(error)}`;
        assert(!shown.includes("nobody may see"), shown);
      }
    }
  },
  ["--rename-command", "EVALSHA", "", "--rename-command", "GET", ""],
);

test("While Redis is silent, a request with a session gets 503 in time, and 200 within 2 s", async ({ proxy, reports, store: make }) => {
  await using server = await startAuth({
    session: { strategy: "hybrid", store: make("redis 6", { now: Date.now }) },
    clock: { now: Date.now, seconds: 0, pass() {} },
  });
  const browser = await server.signIn();
  proxy.set("silent");
  const begun = performance.now();
  const statuses = new Set<number>();
  for (let status = 0; status !== 200;) {
    const asked = performance.now();
    const response = await browser.ask("/me");
    status = response.status;
    statuses.add(status);
    if (status === 503) {
      assert(response.headers.has("retry-after"));
      assertEquals((await response.json()).error.code, "UNAVAILABLE");
    } else assertEquals((await response.json()).user.id, "1");
    const ms = performance.now() - asked;
    assert(ms < 2_000, `one took ${ms} ms`);
  }
  const ms = performance.now() - begun;
  assert(ms < 2_000, `it took ${ms} ms`);
  assertEquals([...statuses].at(-1), 200);
  assertEquals(server.errors, []);
  assert(reports.length <= 1);
});
