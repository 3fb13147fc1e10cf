import { assert, assertEquals, assertLess, assertThrows } from "@std/assert";
import { createChannel } from "@quartet/kit/rpc";
import { startDeno } from "../helpers.ts";
import { assertLost, range, take, testChannel } from "./channel_contract.ts";

testChannel({
  name: "createChannel()",
  manyMore: 11,
  open: (options) =>
    Promise.resolve({
      channel: createChannel(options),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
});

/** Returns a random source whose bytes are all the same. */
const all = (byte: number) => (bytes: Uint8Array) => void bytes.fill(byte);

Deno.test("createChannel() creates ids of an epoch and a number", async () => {
  const channel = createChannel({ random: all(0xab) });
  assertEquals(await channel.publish(1), "abababababababab-0");
  assertEquals(await channel.publish(2), "abababababababab-1");
  const other = createChannel();
  const id = await other.publish(1);
  assert(/^[0-9a-f]{16}-0$/.test(id), id);
});

Deno.test("createChannel() reports a loss for ids from before a restart", async () => {
  const { signal } = new AbortController();
  const before = createChannel({ random: all(1) });
  const lastEventId = await before.publish("old");
  const now = createChannel({ random: all(2) });
  await now.publish("new");
  await assertLost(now.subscribe(signal, { lastEventId }));
});

Deno.test("createChannel() resumes exactly as far back as its history", async () => {
  const channel = createChannel<number>({ history: 3 });
  const ids: string[] = [];
  for (const value of range(0, 9)) ids.push(await channel.publish(value));
  const controller = new AbortController();
  const from = (i: number) =>
    channel.subscribe(controller.signal, { lastEventId: ids[i] });
  await assertLost(from(5));
  assertEquals(await take(from(6), 3), [7, 8, 9]);
  // Messages can also be evicted between subscribing and the first read.
  const late = from(6);
  await channel.publish(10);
  await assertLost(late);
  controller.abort();
  assertEquals(channel.subscribers, 0);
});

Deno.test("createChannel() shares messages, so slow subscribers take no memory", async () => {
  const channel = createChannel<{ n: number }>({ history: 4 });
  const controller = new AbortController();
  const streams = range(1, 10).map(() => channel.subscribe(controller.signal));
  await channel.publish({ n: 1 });
  const results = await Promise.all(streams.map((stream) => stream.next()));
  assertEquals(new Set(results.map(({ value }) => value)).size, 1);
  controller.abort();
});

Deno.test("createChannel() requires a positive integer as history", () => {
  for (const history of [0, -1, 1.5, NaN, Infinity, "10" as never, null!]) {
    assertThrows(
      () => createChannel({ history }),
      TypeError,
      "history must be a positive integer",
    );
  }
});

Deno.test("createChannel() takes no more memory after 10,000 subscribers and a million messages", async () => {
  await using child = startDeno([
    "run",
    "-A",
    "--v8-flags=--expose-gc",
    "tests/rpc/channel_memory.ts",
  ]);
  assertEquals(await child.code, 0, child.stderr);
  const { subscribers, messages, left } = JSON.parse(child.stdout);
  // In each round: 10 bytes per subscriber, and less than one per message.
  assertLess(subscribers, 100_000);
  assertLess(messages, 100_000);
  assertEquals(left, 2);
});

Deno.test("createChannel() publishes to 10,000 subscribers at once", async () => {
  const channel = createChannel<number>();
  const controller = new AbortController();
  const streams = range(1, 10_000).map(() =>
    channel.subscribe(controller.signal)
  );
  for (const value of range(1, 20)) {
    const results = streams.map((stream) => stream.next());
    await channel.publish(value);
    for (const result of results) {
      assertEquals((await result).value.value, value);
    }
  }
  controller.abort();
  assertEquals(channel.subscribers, 0);
});
