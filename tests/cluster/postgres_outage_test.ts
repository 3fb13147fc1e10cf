/**
 * Stores and channels during outages of their Postgres. Each test starts its
 * own server.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertLess,
  assertMatch,
  assertRejects,
} from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import { createPostgresSessionStore } from "@quartet/kit/auth/postgres";
import {
  createPostgresChannel,
  createPostgresRateLimitStore,
} from "@quartet/kit/rpc/postgres";
import pg from "pg";
import { recordOf } from "../auth/stores/store_contract.ts";
import {
  driverNames,
  DRIVERS,
  hasPostgres,
  needsPostgres,
  type PostgresServer,
  startPostgres,
} from "../postgres_server.ts";
import { range, take } from "../rpc/channel_contract.ts";
import { unlessStalled } from "../stalls.ts";
import { type FaultProxy, startFaultProxy } from "./fault_proxy.ts";

/** A server behind a proxy. */
interface World {
  readonly server: PostgresServer;
  readonly proxy: FaultProxy;
  /** The options of everything that connects through the proxy. */
  readonly options: {
    readonly connect: ReturnType<typeof DRIVERS["npm:pg"]>;
    readonly onError: (error: Error) => void;
  };
  /** The messages of all errors passed to `onError`. */
  readonly errors: string[];
}

function test(name: string, fn: (world: World) => Promise<void>): void {
  for (const driver of driverNames) {
    Deno.test({
      name: needsPostgres(`${name} (${driver})`),
      ignore: !hasPostgres,
      fn: unlessStalled(async () => {
        await using server = await startPostgres();
        const target = new URL(server.url);
        await using proxy = startFaultProxy(Number(target.port));
        target.port = `${proxy.port}`;
        const errors: string[] = [];
        const connect = DRIVERS[driver](target.href);
        const onError = ({ message }: Error) => void errors.push(message);
        await fn({
          server,
          proxy,
          errors,
          options: { connect: connect as never, onError },
        });
      }),
    });
  }
}

/** Repeats a call until it succeeds. Returns the time that took. */
async function untilItWorks(work: () => unknown): Promise<number> {
  const begun = performance.now();
  for (;;) {
    try {
      await work();
      return performance.now() - begun;
    } catch (error) {
      assert(error instanceof UnavailableError, `${error}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Runs a statement as an administrator, bypassing the proxy. */
async function run(server: PostgresServer, text: string): Promise<void> {
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(text);
  await client.end();
}

test("Stores and channels work within 2 s after a silent Postgres, and no call hangs", async (world) => {
  const { options, proxy, errors } = world;
  const signal = new AbortController();
  await using sessions = createPostgresSessionStore(options);
  await using limits = createPostgresRateLimitStore(options);
  await using channel = createPostgresChannel<number>({
    ...options,
    name: "c",
  });
  const rule = { name: "r", max: 5, windowMs: 60_000 };
  const stream = channel.subscribe(signal.signal);
  const next = stream.next();
  await sessions.set(recordOf("a", "ada", { expiresAt: Date.now() + 1e6 }));
  await limits.take([{ rule, key: "k" }]);
  await channel.publish(1);
  assertEquals((await next).value.value, 1);

  const late = stream.next();
  proxy.set("silent");
  const begun = performance.now();
  const results = await Promise.allSettled([
    sessions.get("a"),
    limits.take([{ rule, key: "k" }]),
    channel.publish(2),
  ]);
  assertLess(performance.now() - begun, 1_500);
  for (const result of results) {
    assert(result.status === "rejected");
    assert(result.reason instanceof UnavailableError, `${result.reason}`);
  }
  await untilItWorks(() => sessions.get("a"));
  await untilItWorks(() => limits.take([{ rule, key: "k" }]));
  await untilItWorks(() => channel.publish(3));
  assertEquals((await late).value.value, 3);
  assertLess(performance.now() - begun, 2_000);
  assertEquals(errors.toSorted(), [
    'Cannot reach channel "c": Postgres has not answered for 1 s',
    "Cannot reach rate limit store: Postgres has not answered for 1 s",
    "Cannot reach session store: Postgres has not answered for 1 s",
  ]);
  signal.abort();
});

test("A silent connection without calls is replaced within 2 s", async (world) => {
  const { options, proxy } = world;
  const controller = new AbortController();
  await using here = createPostgresSessionStore(options);
  await using channel = createPostgresChannel<number>({
    ...options,
    name: "c",
  });
  let told = Promise.withResolvers<void>();
  here.onEnded!((ids) => ids === undefined && told.resolve());
  await told.promise;
  told = Promise.withResolvers();
  const stream = channel.subscribe(controller.signal);
  const next = stream.next();
  await channel.publish(1);
  await next;
  proxy.set("silent");
  const begun = performance.now();
  // Another process with working connections.
  await using there = createPostgresChannel<number>({ ...options, name: "c" });
  const last = stream.next();
  await there.publish(2);
  assertEquals((await last).value.value, 2);
  await told.promise;
  assertLess(performance.now() - begun, 2_000);
  controller.abort();
});

test("During an outage of Postgres, calls fail at once and it is reported once", async (world) => {
  const { options, proxy, errors } = world;
  await using sessions = createPostgresSessionStore(options);
  const record = recordOf("a", "ada", { expiresAt: Date.now() + 1e6 });
  await sessions.set(record);
  proxy.set("refuse");
  await assertRejects(async () => await sessions.get("a"), UnavailableError);
  const begun = performance.now();
  for (let i = 0; i < 100; i++) {
    const error = await assertRejects(
      async () => await sessions.get("a"),
      UnavailableError,
    );
    assertEquals(error.retryAfter, 2);
  }
  await assertRejects(async () => await sessions.ping(), UnavailableError);
  assertLess(performance.now() - begun, 1_000);
  assertEquals(errors.length, 1);
  assertMatch(errors[0]!, /^Cannot reach session store: /);
  assert(!/postgres:\/\/|@/.test(errors[0]!), errors[0]);
  proxy.set("forward");
  await untilItWorks(() => sessions.ping());
  assertEquals(await sessions.get("a"), record);
  assertEquals(errors.length, 1);
});

test("No message is lost or duplicated if Postgres is killed and restarted", async (world) => {
  const { options, server } = world;
  const controller = new AbortController();
  const open = () => createPostgresChannel<number>({ ...options, name: "c" });
  await using here = open();
  await using there = open();
  const streams = [here, there].map((channel) =>
    channel.subscribe(controller.signal)
  );
  await Promise.all([here.ping(), there.ping()]);
  const reading = streams.map(async (stream) => {
    const seen: number[] = [];
    for await (const { value } of stream) {
      if (value === -1) break;
      seen.push(value);
    }
    return seen;
  });
  const acknowledged: number[] = [];
  let rejected = 0;
  let isOver = false;
  const publishing = (async () => {
    // Each number is published once. A failed attempt may have succeeded or
    // not.
    for (let value = 0; !isOver; value++) {
      try {
        await (value % 2 === 0 ? here : there).publish(value);
        acknowledged.push(value);
      } catch (error) {
        assert(error instanceof UnavailableError, `${error}`);
        rejected++;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  })();
  for (const _ of range(1, 3)) {
    const before = acknowledged.length;
    while (acknowledged.length < before + 50) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await server.restart();
  }
  isOver = true;
  await publishing;
  await untilItWorks(() => here.publish(-1));
  const [first, second] = await Promise.all(reading);
  assertEquals(first, second);
  assertEquals(new Set(first).size, first!.length);
  const seen = new Set(first);
  assertEquals(acknowledged.filter((value) => !seen.has(value)), []);
  assertLess(0, rejected);
  controller.abort();
});

test("Connections terminated by an administrator are replaced", async (world) => {
  const { options, server } = world;
  const controller = new AbortController();
  await using sessions = createPostgresSessionStore(options);
  await using channel = createPostgresChannel<number>({
    ...options,
    name: "c",
  });
  const told: (readonly string[] | undefined)[] = [];
  let next = Promise.withResolvers<void>();
  sessions.onEnded!((ids) => {
    told.push(ids);
    next.resolve();
  });
  await next.promise;
  next = Promise.withResolvers();
  const stream = channel.subscribe(controller.signal);
  const first = stream.next();
  await channel.publish(1);
  await first;
  await run(
    server,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
  );
  await untilItWorks(() => channel.publish(2));
  assertEquals(await take(stream, 1), [2]);
  // Sessions may have ended while it wasn't listening.
  await next.promise;
  assertEquals(told, [undefined, undefined]);
  await untilItWorks(() => sessions.ping());
  controller.abort();
});

test("A read-only server counts as an outage", async (world) => {
  const { options, server, errors } = world;
  await using sessions = createPostgresSessionStore(options);
  await sessions.set(recordOf("a"));
  await run(server, "ALTER SYSTEM SET default_transaction_read_only = on");
  await run(server, "SELECT pg_reload_conf()");
  for (;;) {
    try {
      await sessions.set(recordOf("b"));
    } catch (error) {
      assert(error instanceof UnavailableError, `${error}`);
      break;
    }
  }
  assertMatch(errors[0]!, /read-only transaction/);
});
