/** Hostile messages to a server over a socket. */

import { assert, assertEquals } from "@std/assert";
import { createRouter, procedure } from "@quartet/kit/rpc";
import { z } from "zod";
import {
  connect,
  connectRaw,
  errorLog,
  frame,
  type Message,
  serveRouter,
  subscribe,
  until,
  writeAll,
} from "./helpers.ts";

const log = errorLog();

/** Waits until its subscriber is gone. */
async function* wait({ signal }: { signal: AbortSignal }) {
  yield "ready";
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
}

const router = createRouter({
  ping: procedure.query(() => "pong"),
  wait: procedure.subscription(wait),
  none: procedure.subscription(async function* () {}),
  echo: procedure.subscription(z.string(), async function* ({ input }) {
    yield await Promise.resolve(input);
  }),
}, log);

const shape = (error: Message["error"]) => [error?.code, error?.message];

Deno.test("A message of the wrong shape is a PARSE_ERROR, and the connection stays open", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  const table: [message: unknown, text: string][] = [
    ["", "The message is not valid JSON"],
    ["ping", "The message is not valid JSON"],
    ["null", "The message must be an object, received null"],
    ["[]", "The message must be an object, received an array"],
    ["5", "The message must be an object, received a number"],
    ['"ping"', "The message must be an object, received a string"],
    ["[".repeat(60_000), "The message is not valid JSON"],
    [
      "[".repeat(30_000) + "]".repeat(30_000),
      "The message must be an object, received an array",
    ],
    [{}, "id must be a string of 1 to 128 characters, received nothing"],
    [
      { type: "subscribe", path: ["wait"] },
      "id must be a string of 1 to 128 characters, received nothing",
    ],
    [
      { ...subscribe("", "wait") },
      "id must be a string of 1 to 128 characters, received one of 0",
    ],
    [
      { ...subscribe("a".repeat(129), "wait") },
      "id must be a string of 1 to 128 characters, received one of 129",
    ],
    [
      { ...subscribe("a", "wait"), id: 5 },
      "id must be a string of 1 to 128 characters, received a number",
    ],
    [
      { ...subscribe("a", "wait"), id: ["a"] },
      "id must be a string of 1 to 128 characters, received an array",
    ],
    [
      { type: "unsubscribe" },
      "id must be a string of 1 to 128 characters, received nothing",
    ],
    [
      { type: "shutdown", id: "a" },
      'type must be "subscribe", "unsubscribe" or "ping"',
    ],
    [{ id: "a" }, 'type must be "subscribe", "unsubscribe" or "ping"'],
    [
      { type: ["ping"], id: "a" },
      'type must be "subscribe", "unsubscribe" or "ping"',
    ],
    [
      { type: "subscribe", id: "a" },
      "path must be an array of strings, received nothing",
    ],
    [
      { type: "subscribe", id: "a", path: "wait" },
      "path must be an array of strings, received a string",
    ],
    [
      { type: "subscribe", id: "a", path: [["wait"]] },
      "path must hold strings only, received an array",
    ],
    [
      { ...subscribe("a", "wait"), lastEventId: 5 },
      "lastEventId must be a string of at most 256 characters",
    ],
    [
      { ...subscribe("a", "wait"), lastEventId: "e".repeat(257) },
      "lastEventId must be a string of at most 256 characters",
    ],
    [new Uint8Array(10), "The message is not valid JSON"],
    [new Uint8Array([0xff, 0xfe]), "The message must be UTF-8"],
    [
      new TextEncoder().encode('{"type":"pong"}'),
      "id must be a string of 1 to 128 characters, received nothing",
    ],
  ];
  for (const [message, text] of table) {
    client.send(message);
    const { type, error } = await client.next();
    assertEquals([type, ...shape(error)], ["error", "PARSE_ERROR", text]);
  }
  assertEquals(await client.settle(), []);
});

Deno.test("A binary frame is read like a text frame, and its bytes count", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  const send = (message: unknown) =>
    client.send(new TextEncoder().encode(JSON.stringify(message)));
  send({ type: "ping" });
  assertEquals((await client.next()).type, "pong");
  send(subscribe("a", "echo", "Żółć"));
  assertEquals((await client.next()).data, "Żółć");
  assertEquals((await client.next()).type, "complete");
  send(subscribe("b", "echo", "é".repeat(32_768)));
  const { id, error } = await client.next();
  assertEquals([id, error?.code], ["b", "PAYLOAD_TOO_LARGE"]);
  client.send(new Uint8Array(1 << 20));
  assertEquals((await client.next()).error?.code, "PAYLOAD_TOO_LARGE");
  assertEquals(await client.settle(), []);
});

Deno.test("A path on a socket that leads anywhere but to a procedure is NOT_FOUND", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  for (
    const path of [
      [],
      [""],
      ["__proto__"],
      ["constructor"],
      ["toString"],
      ["_def", "wait"],
      ["wait", "handler"],
      ["wait."],
      Array(10_000).fill("w"),
    ]
  ) {
    client.send({ type: "subscribe", id: "a", path });
    const { id, error } = await client.next();
    const name = path.join(".");
    assertEquals([id, ...shape(error)], [
      "a",
      "NOT_FOUND",
      name.length <= 100
        ? `Procedure not found: ${name}`
        : `Procedure not found: ${name.slice(0, 100)}… (19899 more characters)`,
    ]);
  }
});

Deno.test("A message may have at most the limit's size in bytes, in one frame or many", async () => {
  await using server = await serveRouter(router);
  using client = await connectRaw(server.port);
  const message = (size: number, char: string) => {
    const empty = JSON.stringify(subscribe("a", "echo", ""));
    const width = new TextEncoder().encode(char).length;
    const input = char.repeat(Math.ceil((size - empty.length) / width));
    return [JSON.stringify(subscribe("a", "echo", input)), input] as const;
  };
  const inFrames = (text: string) => {
    const bytes = new TextEncoder().encode(text);
    const frames: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += 1_000) {
      frames.push(frame(bytes.subarray(at, at + 1_000), {
        opcode: at === 0 ? 1 : 0,
        fin: at + 1_000 >= bytes.length,
      }));
    }
    return new Uint8Array(frames.flatMap((frame) => [...frame]));
  };
  for (const split of [(text: string) => frame(text), inFrames]) {
    for (const char of ["a", "\u{1f600}"]) {
      const [fitting, input] = message(65_532, char);
      await client.send(split(fitting));
      assertEquals((await client.next())?.data, input);
      assertEquals((await client.next())?.type, "complete");
      for (const size of [65_537, 100_000, 1_000_000]) {
        await client.send(split(message(size, char)[0]));
        assertEquals(shape((await client.next())?.error), [
          "PAYLOAD_TOO_LARGE",
          "The message must be at most 65536 bytes",
        ]);
      }
    }
  }
});

Deno.test("A message far beyond the limit is answered, and its connection closed with 1009", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "echo", "a".repeat(16 * 65_536)));
  const { id, error } = await client.next();
  assertEquals([id, error?.code], ["a", "PAYLOAD_TOO_LARGE"]);
  assertEquals((await client.closed).code, 1009);
});

Deno.test("A message fragmented into frames is one message", async () => {
  await using server = await serveRouter(router);
  using client = await connectRaw(server.port);
  const bytes = frame(JSON.stringify(subscribe("a", "echo", "hello")));
  for (const byte of bytes) {
    await writeAll(client.connection, new Uint8Array([byte]));
  }
  assertEquals((await client.next())?.data, "hello");
});

Deno.test("A duplicate id is rejected, and its first subscription continues", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "wait"));
  assertEquals((await client.next()).data, "ready");
  client.send(subscribe("a", "none"));
  assertEquals((await client.next()).error?.code, "DUPLICATE_ID");
  client.send(subscribe("a", "wait"));
  assertEquals((await client.next()).error?.code, "DUPLICATE_ID");
  client.send({ type: "unsubscribe", id: "a" });
  client.send(subscribe("a", "wait"));
  assertEquals(await client.next(), { type: "data", id: "a", data: "ready" });
  assertEquals(await client.settle(), []);
});

Deno.test("An id can be reused in the same tick, and only its last subscription sends messages", async () => {
  const started: number[] = [];
  const ended: number[] = [];
  const router = createRouter({
    count: procedure
      // Slow enough for the next subscription to start meanwhile.
      .output(z.number().transform((n) => Promise.resolve(n)))
      .subscription(z.number(), async function* ({ input, signal }) {
        started.push(input);
        try {
          yield input;
          await new Promise((resolve) =>
            signal.addEventListener("abort", resolve)
          );
        } finally {
          ended.push(input);
        }
      }),
  });
  await using server = await serveRouter(router);
  await using client = await connect(server);
  const rounds = 200;
  for (let i = 0; i < rounds; i++) {
    client.send(subscribe("a", "count", i));
    if (i < rounds - 1) client.send({ type: "unsubscribe", id: "a" });
  }
  const messages = await client.settle();
  while (messages.at(-1)?.data !== rounds - 1) {
    messages.push(await client.next());
  }
  // Each may have sent its number before it was unsubscribed, but never after.
  const numbers = messages.map(({ data }) => data);
  assertEquals(numbers, [...numbers].sort((a, b) => a - b));
  assert(messages.every(({ type }) => type === "data"));
  await until(() => ended.length === started.length - 1);
});

Deno.test("A subscription that ends late neither sends under its old id nor frees it", async () => {
  const gate = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const router = createRouter({
    gated: procedure
      .output(
        z.number().transform(async (n) => {
          if (n === 0) await gate.promise;
          return n;
        }),
      )
      .subscription(z.number(), async function* ({ input, signal }) {
        try {
          yield input;
          await new Promise((resolve) =>
            signal.addEventListener("abort", resolve)
          );
        } finally {
          if (input === 0) late.resolve();
        }
      }),
  });
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "gated", 0));
  client.send({ type: "unsubscribe", id: "a" });
  client.send(subscribe("a", "gated", 1));
  assertEquals((await client.next()).data, 1);
  gate.resolve();
  await late.promise;
  assertEquals(await client.settle(), []);
  client.send(subscribe("a", "gated", 2));
  assertEquals((await client.next()).error?.code, "DUPLICATE_ID");
});

Deno.test("A client that reads its answers may send any number of messages", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  for (let i = 0; i < 50; i++) {
    for (let n = 0; n < 1_000; n++) client.send({ type: "ping" });
    await client.take(1_000);
  }
  assertEquals(await client.settle(), []);
});

Deno.test("Unsubscribing twice, or from an unknown id, isn't an error", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send({ type: "unsubscribe", id: "a" });
  client.send(subscribe("a", "none"));
  assertEquals((await client.next()).type, "complete");
  client.send({ type: "unsubscribe", id: "a" });
  client.send({ type: "unsubscribe", id: "constructor" });
  assertEquals(await client.settle(), []);
});

Deno.test("Only 100 of 10,000 concurrent subscriptions run, and the others are rejected", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  for (let i = 0; i < 10_000; i++) client.send(subscribe(`${i}`, "wait"));
  const messages = await client.settle();
  const refused = messages.filter(({ type }) => type === "error");
  assertEquals(refused.length, 9_900);
  for (const { error } of refused) {
    assertEquals(shape(error), [
      "SUBSCRIPTION_ERROR",
      "A connection holds at most 100 subscriptions",
    ]);
  }
  const running = messages.filter(({ type }) => type === "data");
  assertEquals(running.map(({ id }) => id), [...Array(100).keys()].map(String));
  // When one ends, another can start.
  client.send({ type: "unsubscribe", id: "5" });
  client.send(subscribe("next", "wait"));
  assertEquals((await client.next()).id, "next");
});

Deno.test("Generators that don't end count after they are unsubscribed, up to twice the limit", async () => {
  const stuck = Promise.withResolvers<void>();
  let running = 0;
  const router = createRouter({
    // deno-lint-ignore require-yield -- it never yields
    stuck: procedure.subscription(async function* () {
      running++;
      await stuck.promise;
      running--;
    }),
  }, { maxSubscriptions: 5 });
  await using server = await serveRouter(router);
  await using client = await connect(server);
  for (let i = 0; i < 100; i++) {
    client.send(subscribe("a", "stuck"));
    client.send({ type: "unsubscribe", id: "a" });
  }
  const messages = await client.settle();
  assertEquals(running, 10);
  assertEquals(messages.length, 90);
  for (const { error } of messages) {
    assertEquals(error?.code, "SUBSCRIPTION_ERROR");
  }
  stuck.resolve();
  await until(() => running === 0);
  client.send(subscribe("a", "stuck"));
  assertEquals((await client.next()).type, "complete");
});

for (
  const [what, message] of [
    ["pings", { type: "ping" }],
    ["nonsense", { type: "nonsense" }],
  ] as const
) {
  Deno.test(`A client that sends ${what} and never reads is disconnected and costs little memory until then`, async () => {
    const before = Deno.memoryUsage().rss;
    // The process may grow for other reasons, and shrink again.
    let least = Infinity;
    for (let attempts = 5; attempts > 0 && least >= 100e6; attempts--) {
      least = Math.min(least, await flood(message) - before);
    }
    assert(least < 100e6, `${least} bytes`);
  });
}

/**
 * Floods a server with a message, reads nothing, and waits until the server ends
 * the subscription. Returns the resident memory at that time, in bytes.
 */
async function flood(message: object): Promise<number> {
  let ended = false;
  const router = createRouter({
    wait: procedure.subscription(async function* (args) {
      yield* wait(args);
      ended = true;
    }),
  });
  await using server = await serveRouter(router);
  await using other = await connect(server);
  const client = await connectRaw(server.port);
  await client.send(subscribe("a", "wait"));
  const bytes = [...frame(JSON.stringify(message))];
  const many = new Uint8Array(Array(1_000).fill(bytes).flat());
  // Stops when the server has closed the connection or stopped reading.
  const flooding = (async () => {
    while (!ended) await writeAll(client.connection, many);
  })().catch(() => {});
  await until(() => ended);
  const { rss } = Deno.memoryUsage();
  client[Symbol.dispose]();
  await flooding;
  assertEquals(await other.settle(), []);
  return rss;
}

Deno.test("A client that sends requests while it receives a large value stays connected", async () => {
  const SIZE = 12 << 20;
  const router = createRouter({
    large: procedure.subscription(async function* () {
      yield await Promise.resolve("x".repeat(SIZE));
    }),
  });
  await using server = await serveRouter(router);
  using client = await connectRaw(server.port);
  await client.send(subscribe("a", "large"));
  for (let i = 0; i < 100; i++) await client.send({ type: "ping" });
  const kinds: (string | undefined)[] = [];
  while (kinds.length < 102) {
    const message = await client.next();
    if (message === null) break;
    kinds.push(message.data?.length ?? message.type);
  }
  assertEquals(kinds.filter((kind) => kind === "pong").length, 100);
  assertEquals(kinds.includes(SIZE as never), true);
});

Deno.test("Invalid frames end their own connection only", async () => {
  await using server = await serveRouter(router);
  await using other = await connect(server);
  for (
    const bytes of [
      // A reserved opcode, reserved bits, an unmasked frame, a continuation of
      // nothing, a long ping, a length of 2^62, half a text.
      frame("x", { opcode: 3 }),
      new Uint8Array([0xf1, 0x80, 0, 0, 0, 0]),
      new Uint8Array([0x81, 0x01, 0x61]),
      frame("x", { opcode: 0 }),
      frame("x".repeat(126), { opcode: 9 }),
      new Uint8Array([0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
      frame(new Uint8Array([0xc3, 0x28])),
    ]
  ) {
    using client = await connectRaw(server.port);
    await client.send(subscribe("a", "wait"));
    assertEquals((await client.next())?.data, "ready");
    await client.send(bytes);
    await client.connection.closeWrite();
    while (await client.next() !== null);
  }
  assertEquals(await other.settle(), []);
});
