/**
 * Several processes with one Postgres.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { createPostgresSessionStore } from "@quartet/kit/auth/postgres";
import {
  createPostgresChannel,
  createPostgresRateLimitStore,
} from "@quartet/kit/rpc/postgres";
import pg from "pg";
import { recordOf } from "../auth/stores/store_contract.ts";
import { ROOT, UNHURRIED } from "../helpers.ts";
import {
  DRIVERS,
  hasPostgres,
  needsPostgres,
  newSchema,
  sharedPostgres,
} from "../postgres_server.ts";
import { range } from "../rpc/channel_contract.ts";

const url = sharedPostgres();

const PER_PROCESS = 500;

Deno.test({
  name: needsPostgres(
    "All readers receive concurrent messages of several processes in one order",
  ),
  ignore: !hasPostgres,
  async fn() {
    const schema = newSchema();
    const controller = new AbortController();
    const open = (connect = DRIVERS["npm:pg"](url())) =>
      createPostgresChannel<number>({
        connect,
        schema,
        name: "c",
        history: 10_000,
        timeout: UNHURRIED,
      });
    await using here = open();
    await using there = open(DRIVERS["npm:postgres"](url()) as never);
    const streams = [here, there].map((channel) =>
      channel.subscribe(controller.signal)
    );
    await Promise.all([here.ping(), there.ping()]);
    const processes = range(0, 2).map((i) => startPublisher(schema, i));
    for (const { ready } of processes) await ready;
    const reading = streams.map(async (stream) => {
      const values: number[] = [];
      for await (const { value } of stream) {
        if (value === -1) break;
        values.push(value);
      }
      return values;
    });
    for (const { go } of processes) await go();
    for (const { ended } of processes) await ended;
    await here.publish(-1);
    const [first, second] = await Promise.all(reading);
    assertEquals(second, first);
    for (const i of range(0, 2)) {
      const own = first!.filter((value) => Math.floor(value / 1e4) === i);
      assertEquals(own, range(i * 1e4, i * 1e4 + PER_PROCESS - 1));
    }
    controller.abort();
  },
});

/** Starts a process that publishes 500 numbers from `index * 10_000` on. */
function startPublisher(schema: string, index: number) {
  const first = index * 1e4;
  const numbers = [`${first}`, `${first + PER_PROCESS - 1}`];
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "tests/cluster/postgres_publisher.ts",
      url(),
      schema,
      ...numbers,
    ],
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = process.stdout.getReader();
  const input = process.stdin.getWriter();
  return {
    ready: reader.read(),
    async go() {
      await input.write(new Uint8Array(1));
      await input.close();
    },
    ended: process.status.then(async ({ code }) => {
      assertEquals(code, 0);
      await reader.cancel();
    }),
  };
}

Deno.test({
  name: needsPostgres(
    "A session check, a limit's event and a message take one statement each",
  ),
  ignore: !hasPostgres,
  async fn() {
    const statements: string[] = [];
    const connect = () => {
      const client = new pg.Client(url());
      const query = client.query.bind(client);
      client.query = (config: { text: string }) => {
        if (config.text !== "SELECT 1") statements.push(config.text);
        return query(config);
      };
      return client;
    };
    const options = { connect, schema: newSchema(), timeout: UNHURRIED };
    const count = async (work: () => unknown) => {
      await work();
      statements.length = 0;
      await work();
      return statements.length;
    };
    await using sessions = createPostgresSessionStore(options);
    await using limits = createPostgresRateLimitStore(options);
    await using channel = createPostgresChannel({ ...options, name: "c" });
    const record = recordOf("a", "ada", { expiresAt: Date.now() + 1e6 });
    const rules = range(1, 3).map((i) => ({
      rule: { name: `${i}`, max: 5, windowMs: 1e6 },
      key: "k",
      unless: "m",
    }));
    const taken = await limits.take(rules);
    const settlement = {
      keys: rules,
      windows: taken.windows,
      clear: rules[0]!,
      mark: { name: "m", ms: 1e6 },
    };
    const calls = [
      () => sessions.set(record),
      () => sessions.get("a"),
      () => sessions.touch(record),
      () => sessions.listByUser("ada"),
      () => sessions.delete("a"),
      () => sessions.deleteByUser("ada"),
      () => limits.take(rules),
      () => limits.settle(settlement),
      () => channel.publish(1),
      () => Promise.all(range(1, 50).map((i) => channel.publish(i))),
    ];
    const counts: number[] = [];
    for (const call of calls) counts.push(await count(call));
    // One of 50 concurrent messages is sent at once, and the others together.
    assertEquals(counts, [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
  },
});
