import { assert, assertEquals, assertLess } from "@std/assert";
import { type Child, startDeno } from "../helpers.ts";
import { leastGrowth, measureRounds } from "../leaks.ts";
import {
  connect,
  connectRaw,
  frame,
  handshake,
  type RawClient,
  subscribe,
  writeAll,
} from "./helpers.ts";
import { concatBytes } from "../../core/bytes/bytes.ts";
import type { Figures } from "./socket_server.ts";

/** Starts the server in a child process, to measure its memory alone. */
async function startServer() {
  const child: Child = startDeno([
    "run",
    "-A",
    "--no-check",
    // No optimizing compilers: their code would add to the heap.
    "--v8-flags=--expose-gc,--no-opt,--no-maglev,--no-sparkplug",
    new URL("./socket_server.ts", import.meta.url).href,
  ]);
  const port = Number((await child.printed(/port (\d+)\n/))[1]);
  const url = `http://127.0.0.1:${port}/api/rpc`;
  return {
    url,
    port,
    /**
     * Returns the server's figures, after a garbage collection if requested.
     */
    async figures(collect = false): Promise<Figures> {
      const response = await fetch(`${url}?path=figures&input=${collect}`);
      return (await response.json()).data;
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

type TestServer = Awaited<ReturnType<typeof startServer>>;

/** Waits until the server has reported the same figures fifty times. */
async function settled(
  server: TestServer,
  figure: (figures: Figures) => unknown,
): Promise<Figures> {
  let figures = await server.figures();
  for (let same = 0; same < 50;) {
    const next = await server.figures();
    same = figure(next) === figure(figures) ? same + 1 : 0;
    figures = next;
  }
  return figures;
}

/** Returns the least resident memory of several garbage collections. */
async function leastRss(server: TestServer): Promise<number> {
  const sizes: number[] = [];
  for (let i = 0; i < 5; i++) sizes.push((await server.figures(true)).rss);
  return Math.min(...sizes);
}

const MiB = 1 << 20;
const SIZE = 1_000;
const COUNT = 60_000;

Deno.test("A stalled reader pauses its generator, without effect on others and without loss", async () => {
  await using server = await startServer();
  await using other = await connect(server);
  const idle = await leastRss(server);

  using reader = await connectRaw(server.port);
  const input = { count: COUNT, size: SIZE };
  await reader.send(subscribe("a", "flood", input));
  const first = await reader.next();
  assertEquals(first?.data.n, 0);
  const held = await settled(server, ({ produced }) => produced);
  // The network buffers the rest, not the server.
  assertLess(held.produced, COUNT);
  assertLess(held.buffered, 1.1 * MiB);

  other.send(subscribe("b", "count", 20_000));
  const counted = await other.take(20_001);
  assertEquals(counted.at(-1)?.type, "complete");
  assert(counted.slice(0, -1).every(({ data }, n) => data === n));
  const after = await server.figures(true);
  assertLess(after.produced, COUNT);
  assertLess(after.buffered, 1.1 * MiB);
  assertLess(await leastRss(server) - idle, 64 * MiB);

  for (let n = 1; n < COUNT; n++) {
    const message = await reader.next();
    if (message?.data?.n !== n) assertEquals(message, n as never);
  }
  assertEquals((await reader.next())?.type, "complete");
  assertEquals((await server.figures()).produced, COUNT);
});

Deno.test("A paused generator doesn't run ahead, however often its reader takes a little", async () => {
  await using server = await startServer();
  using reader = await connectRaw(server.port);
  const input = { count: COUNT, size: SIZE };
  await reader.send(subscribe("a", "flood", input));
  for (let n = 0; n < COUNT; n++) {
    if (n % 12_000 === 0) {
      const { buffered } = await settled(server, ({ produced }) => produced);
      assertLess(buffered, 1.1 * MiB);
    }
    const message = await reader.next();
    if (message?.data?.n !== n) assertEquals(message, n as never);
  }
  assertEquals((await reader.next())?.type, "complete");
});

Deno.test("A hundred paused generators on one connection share one buffer limit", async () => {
  await using server = await startServer();
  const reader = await connectRaw(server.port);
  for (let i = 0; i < 100; i++) {
    const input = { count: 1e9, size: SIZE };
    await reader.send(subscribe(`${i}`, "flood", input));
  }
  const held = await settled(server, ({ produced }) => produced);
  assertLess(held.buffered, 1.2 * MiB);
  // When the reader dies, all of them end.
  reader[Symbol.dispose]();
  const { subscriptions } = await settled(server, (now) => now.subscriptions);
  assertEquals(subscriptions, 0);
});

Deno.test("The first values of subscriptions to a stalled reader wait, however many it starts and ends", async () => {
  await using server = await startServer();
  using reader = await connectRaw(server.port);
  const input = { count: 1e9, size: 100_000 };
  for (let i = 0; i < 1_500; i++) {
    await reader.send(subscribe(`${i}`, "flood", input));
    if (i % 100 !== 99) continue;
    await settled(server, ({ produced }) => produced);
    for (let id = i - 99; id <= i; id++) {
      await reader.send({ type: "unsubscribe", id: `${id}` });
    }
  }
  await reader.send(subscribe("last", "flood", { count: 2, size: 1 }));
  const held = await settled(server, ({ subscriptions }) => subscriptions);
  assertLess(held.buffered, 1.2 * MiB);
  assertEquals(held.subscriptions, 1);
  // The reader gets all that was sent before, then the last.
  for (;;) {
    const message = await reader.next();
    if (message?.id !== "last") continue;
    assertEquals(message, {
      type: "data",
      id: "last",
      data: { n: 0, text: "x" },
    });
    break;
  }
});

for (
  const [what, path, input] of [
    ["fail", "fail", undefined],
    ["end", "count", 0],
  ] as const
) {
  Deno.test(`A client that never reads is disconnected, if it starts subscriptions that ${what}`, async () => {
    await using server = await startServer();
    using client = await connectRaw(server.port);
    let most = 0;
    for (let batch = 0; batch < 150; batch++) {
      const frames = Array.from({ length: 1_000 }, (_, i) => {
        const id = `${batch}-${i}`.padEnd(128);
        return frame(JSON.stringify(subscribe(id, path, input)));
      });
      await client.send(concatBytes(frames));
      const { buffered } = await server.figures();
      // Nobody reads, so nothing waits because the socket was closed.
      if (buffered === 0 && most > MiB) break;
      most = Math.max(most, buffered);
    }
    assertEquals((await server.figures()).buffered, 0);
    // Values and answers have a limit each.
    assertLess(most, 5.2 * MiB);
  });
}

/** Closes a connection with a close handshake, and reads until its end. */
async function closeGracefully(client: RawClient): Promise<void> {
  await client.send(frame("", { opcode: 8 }));
  while (await client.next() !== null);
}

/**
 * Waits until all former connections and subscriptions are gone. Returns the least
 * memory of several collections: what one leaves, the next may take.
 */
async function untilEmpty(
  server: TestServer,
): Promise<Pick<Figures, "heap" | "rss">> {
  const empty: Figures[] = [];
  while (empty.length < 5) {
    const figures = await server.figures(true);
    if (figures.running + figures.connections === 0) empty.push(figures);
  }
  return {
    heap: Math.min(...empty.map(({ heap }) => heap)),
    rss: Math.min(...empty.map(({ rss }) => rss)),
  };
}

/**
 * Asserts that work with a server leaves no memory behind.
 *
 * @param work Its connections are closed at its end.
 */
async function assertNoLeak(
  server: TestServer,
  work: () => Promise<void>,
): Promise<void> {
  const sizes = await measureRounds(async () => {
    for (let i = 0; i < 5; i++) await work();
  }, () => untilEmpty(server));
  // A leaked connection would take more than a kilobyte.
  assertLess(leastGrowth(sizes.map(({ heap }) => heap)), 0.125 * MiB);
  assertLess(leastGrowth(sizes.map(({ rss }) => rss)), 16 * MiB);
}

Deno.test("1,000 closed connections with 10 subscriptions each leave no memory behind", async () => {
  await using server = await startServer();
  async function drop(isGraceful = true): Promise<void> {
    const clients = await Promise.all(
      Array.from({ length: 50 }, () => connectRaw(server.port)),
    );
    const messages = Array.from(
      { length: 10 },
      (_, i) => frame(JSON.stringify(subscribe(`${i}`, "wait"))),
    );
    const bytes = concatBytes(messages);
    for (const client of clients) await client.send(bytes);
    await Promise.all(clients.map(async (client) => {
      for (let i = 0; i < 10; i++) {
        assertEquals((await client.next())?.data, "ready");
      }
      if (isGraceful) await closeGracefully(client);
      client.connection.close();
    }));
  }
  await assertNoLeak(server, () => drop());

  // Deno's ping timer keeps a dead socket for some more seconds, but its
  // subscriptions must be gone.
  for (let i = 0; i < 5; i++) await drop(false);
  await settled(server, ({ running }) => running);
  const { running, subscriptions } = await server.figures();
  assertEquals([running, subscriptions], [0, 0]);
});

Deno.test("Messages of hostile clients leave no memory behind", async () => {
  await using server = await startServer();
  const texts = [
    "x",
    "null",
    "[".repeat(60_000),
    JSON.stringify(subscribe("a", "no.such")),
    JSON.stringify(subscribe("a", "wait")),
    JSON.stringify(subscribe("b", "count", { not: "a number" })),
    JSON.stringify({ type: "unsubscribe", id: "a" }),
    JSON.stringify({ type: "subscribe", id: 5 }),
    JSON.stringify(subscribe("a", "wait")),
    JSON.stringify(subscribe("a", "wait")),
    `{"type":"subscribe","id":"c","path":["${"w".repeat(100_000)}"]}`,
  ];
  const frames = [
    ...texts.map((text) => frame(text)),
    frame(new Uint8Array(70_000), { opcode: 2 }),
    frame('{"type":', { fin: false }),
    frame('"ping"}', { opcode: 0 }),
  ];

  async function attack(): Promise<void> {
    await Promise.all(Array.from({ length: 20 }, async () => {
      using client = await connectRaw(server.port);
      for (const bytes of frames) await client.send(bytes);
      while ((await client.next())?.type !== "pong");
      await closeGracefully(client);
    }));
    for (
      const changes of [
        { Origin: "https://evil.example" },
        { Origin: "null" },
        { "Sec-WebSocket-Version": "8" },
        { "Sec-WebSocket-Key": undefined },
      ]
    ) {
      using connection = await Deno.connect({
        hostname: "127.0.0.1",
        port: server.port,
      });
      await writeAll(connection, new TextEncoder().encode(handshake(changes)));
      await connection.read(new Uint8Array(1024));
    }
    for (
      const body of ["", "null", "[]", "[".repeat(100_000), '{"path":["x"]}']
    ) {
      const response = await fetch(server.url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      await response.body?.cancel();
    }
  }

  await assertNoLeak(server, attack);
});
