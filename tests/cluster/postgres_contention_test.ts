/**
 * Stores and channels that compete with other transactions in Postgres, or whose
 * connections fail as they open.
 *
 * @module
 */

import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { UnavailableError } from "@quartet/kit/app";
import { createPostgresSessionStore } from "@quartet/kit/auth/postgres";
import {
  createPostgresChannel,
  createPostgresRateLimitStore,
} from "@quartet/kit/rpc/postgres";
import type pg from "pg";
import { recordOf } from "../auth/stores/store_contract.ts";
import { openSchema } from "../postgres_schema.ts";
import {
  driverNames,
  DRIVERS,
  hasPostgres,
  needsPostgres,
  startPostgres,
} from "../postgres_server.ts";
import { range, take } from "../rpc/channel_contract.ts";
import { unlessStalled } from "../stalls.ts";

/** Number of stores, as in as many processes. */
const PROCESSES = 3;

/** Repeats a call of a store with a short timeout until it isn't too late. */
async function untilAvailable<T>(call: () => T): Promise<Awaited<T>> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      assert(error instanceof UnavailableError, `${error}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/**
 * Keeps a driver's clients in `running` until they have ended.
 *
 * @param mayEnd Before it resolves, none ends.
 */
function trackEnds(create: () => unknown, mayEnd?: Promise<void>) {
  const running = new Set<unknown>();
  function connect() {
    const client = create() as pg.Client;
    running.add(client);
    const end = client.end.bind(client) as (options: unknown) => unknown;
    const endAndRemove = async (options: unknown) => {
      await mayEnd;
      await end(options);
      running.delete(client);
    };
    return Object.assign(client, { end: endAndRemove });
  }
  return { connect, running };
}

for (const driver of driverNames) {
  for (const level of ["repeatable read", "serializable"]) {
    Deno.test({
      name: needsPostgres(
        `Concurrent calls conflict in no isolation level: ${level} (${driver})`,
      ),
      ignore: !hasPostgres,
      async fn() {
        await using server = await startPostgres([
          `default_transaction_isolation=${level}`,
        ]);
        await using world = await openSchema(server.url, driver);
        const { schema, connect } = world;
        const errors: string[] = [];
        const options = {
          connect: connect as never,
          schema,
          timeout: 30,
          onError: ({ message }: Error) => void errors.push(message),
        };
        const open = <S extends AsyncDisposable>(create: () => S): S[] =>
          Array.from({ length: PROCESSES }, () => world.use(create()));
        const limits = open(() => createPostgresRateLimitStore(options));
        const sessions = open(() => createPostgresSessionStore(options));
        const channels = open(() =>
          createPostgresChannel<number>({ ...options, name: "c" })
        );
        const signal = new AbortController();
        const streams = channels.map((channel) =>
          channel.subscribe(signal.signal)
        );
        await Promise.all(channels.map((channel) => channel.ping()));
        const each = <T>(work: (i: number, process: number) => T) =>
          Promise.all(range(1, 90).map((i) => work(i, i % PROCESSES)));

        const rule = { name: "r", max: 50, windowMs: 60_000 };
        const results = await each((_, process) =>
          limits[process]!.take([{ rule, key: "k" }])
        );
        assertEquals(results.filter(({ wait }) => wait === 0).length, 50);

        const expiresAt = Date.now() + 60_000;
        const idOf = (i: number) => recordOf(`${i % 10}`, "ada", { expiresAt });
        await each((i, process) => sessions[process]!.set(idOf(i)));
        const kept = await each((i, process) =>
          sessions[process]!.touch(idOf(i))
        );
        assertEquals(kept, kept.map(() => true));
        const counts = await Promise.all(
          sessions.map((store) => store.deleteByUser("ada")),
        );
        assertEquals(counts.reduce((sum, count) => sum + count), 10);

        await each((i, process) => channels[process]!.publish(i));
        const seen = await Promise.all(
          streams.map((stream) => take(stream, 90)),
        );
        assertEquals(seen[0]!.toSorted((a, b) => a - b), range(1, 90));
        assertEquals(seen, seen.map(() => seen[0]!));
        assertEquals(errors, []);
        signal.abort();
      },
    });
  }

  Deno.test({
    name: needsPostgres(
      `A long lock on a store's table uses up few connections (${driver})`,
    ),
    ignore: !hasPostgres,
    fn: unlessStalled(async () => {
      await using server = await startPostgres();
      await using world = await openSchema(server.url, driver);
      await using admin = await openSchema(server.url, driver);
      const { schema, connect } = world;
      let outages = 0;
      await using sessions = createPostgresSessionStore({
        connect: connect as never,
        schema,
        timeout: 0.2,
        onError: () => outages++,
      });
      await untilAvailable(() => sessions.ping());
      await world.run("BEGIN");
      await world.run(`LOCK TABLE ${schema}.kit_sessions`);
      let most = 0;
      while (outages < 10) {
        const results = await Promise.allSettled(
          range(1, 8).map((i) => sessions.get(`${i}`)),
        );
        for (const result of results) {
          assert(result.status === "rejected");
          assert(result.reason instanceof UnavailableError);
        }
        const [row] = await admin.run(
          "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
        );
        most = Math.max(most, row![0] as number);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      // Its four connections now, and those that it has just given up.
      assertLess(most, 13);
      await world.run("COMMIT");
      assertEquals(await untilAvailable(() => sessions.get("1")), undefined);
    }),
  });

  Deno.test({
    name: needsPostgres(
      `Connections terminated while they open fail only calls (${driver})`,
    ),
    ignore: !hasPostgres,
    async fn() {
      await using server = await startPostgres();
      await using world = await openSchema(server.url, driver);
      const { schema, connect } = world;
      const options = { connect: connect as never, schema, onError() {} };
      const stores = range(1, PROCESSES).map(() =>
        world.use(createPostgresSessionStore(options))
      );
      let isOver = false;
      const calls = stores.map(async (store) => {
        while (!isOver) {
          const results = await Promise.allSettled(
            range(1, 8).map((i) => store.get(`${i}`)),
          );
          for (const result of results) {
            if (result.status === "fulfilled") continue;
            assert(result.reason instanceof UnavailableError);
          }
          // Without a connection, calls reject at once.
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      });
      for (let i = 0; i < 200; i++) {
        await world.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
        );
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      isOver = true;
      await Promise.all(calls);
    },
  });

  Deno.test(`close() waits until each client has ended, even if Postgres never answers (${driver})`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const serving = (async () => {
      for await (const connection of listener) {
        // Until the client gives the connection up.
        await new Response(connection.readable).bytes();
      }
    })();
    const url = `postgres://user@127.0.0.1:${listener.addr.port}/test`;
    const { connect, running } = trackEnds(DRIVERS[driver](url));
    const store = createPostgresSessionStore({
      connect: connect as never,
      timeout: 0.01,
      onError() {},
    });
    await assertRejects(async () => await store.get("1"), UnavailableError);
    await store.close();
    assertEquals(running.size, 0);
    listener.close();
    await serving;
  });

  Deno.test(`A closed store stops connecting, and waits for clients that had failed to connect (${driver})`, async () => {
    let accepted = 0;
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accepting = (async () => {
      for await (const connection of listener) {
        accepted++;
        connection.close();
      }
    })();
    const url = `postgres://user@127.0.0.1:${listener.addr.port}/test`;
    const ending = Promise.withResolvers<void>();
    const { connect, running } = trackEnds(
      DRIVERS[driver](url),
      ending.promise,
    );
    const store = createPostgresSessionStore({
      connect: connect as never,
      timeout: 0.1,
      onError() {},
    });
    await assertRejects(async () => await store.get("1"), UnavailableError);
    const closed = store.close();
    setTimeout(ending.resolve, 20);
    await closed;
    assertEquals(running.size, 0);
    const before = accepted;
    assertLess(0, before);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assertEquals(accepted, before);
    listener.close();
    await accepting;
  });
}
