import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import {
  createTraceWebSocket,
  type Span,
  type TracerImpl,
  type TraceWebSocket,
  type TraceWebSocketOptions,
} from "@quartet/kit/trace";
import { createTestTracer, EPOCH, onlyTrace, treeOf } from "../fakes.ts";

// deno-lint-ignore no-explicit-any -- tests read any field
type Message = any;

/** A client that waits for messages one by one. */
class Client {
  readonly #socket: WebSocket;
  readonly #messages: Message[] = [];
  readonly #closed: Promise<CloseEvent>;
  #wake: () => void = () => {};

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.onmessage = ({ data }) => {
      this.#messages.push(JSON.parse(data));
      this.#wake();
    };
    this.#socket.onerror = (event) => event.preventDefault();
    this.#closed = new Promise((resolve) => this.#socket.onclose = resolve);
  }

  async next(): Promise<Message> {
    while (this.#messages.length === 0) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#messages.shift();
  }

  send(message: unknown): void {
    this.#socket.send(
      typeof message === "string" || message instanceof Uint8Array
        ? message as string
        : JSON.stringify(message),
    );
  }

  /** Resolves when the connection is closed, by either side. */
  closed(): Promise<CloseEvent> {
    return this.#closed;
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.#closed;
  }
}

/** Serves a tracer's stream on a free port. */
async function streaming(
  test: (setup: {
    url: string;
    port: number;
    tracer: TracerImpl;
    stream: TraceWebSocket;
  }) => Promise<void>,
  options?: TraceWebSocketOptions,
  tracer = createTestTracer().tracer,
): Promise<void> {
  const stream = createTraceWebSocket(tracer, options);
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request, info) => stream.upgrade(request, info),
  );
  const { port } = server.addr;
  try {
    await test({ url: `ws://127.0.0.1:${port}/`, port, tracer, stream });
  } finally {
    await stream.close();
    await server.shutdown();
  }
}

Deno.test("A client initially receives at most 16 MiB: the newest traces", async () => {
  await streaming(async ({ url, tracer }) => {
    // Together more than 16 MiB: each trace has as much text as it can hold.
    for (let i = 0; i < 100; i++) {
      const root = tracer.startTrace(`job ${i}`);
      for (let n = 0; n < 64; n++) {
        root.child(`${n}`, "custom", { text: "x".repeat(4_000) }).end();
      }
      root.end();
    }
    const client = new Client(url);
    const { traces } = await client.next();
    const names = traces.map((trace: Message) => trace.spans[0].name);
    assertEquals(
      names,
      Array.from(
        { length: names.length },
        (_, i) => `job ${100 - names.length + i}`,
      ),
    );
    const length = JSON.stringify(traces).length;
    assert(length < 17 * 2 ** 20 && length > 15 * 2 ** 20, `${length}`);
    assert(names.length < 100);
    await client.close();
  });
});

Deno.test("A client receives the stored traces and then the events", async () => {
  await streaming(async ({ url, tracer }) => {
    tracer.startTrace("before").end();
    const client = new Client(url);
    const initial = await client.next();
    assertEquals(initial.type, "initial");
    assertEquals(
      initial.traces.map((trace: Message) => trace.spans[0].name),
      ["before"],
    );

    const root = tracer.startTrace("GET /");
    root.child("step", "data").end();
    root.end();
    const span = {
      id: "00f067aa0ba902b7",
      parentId: null,
      name: "paint",
      startTime: EPOCH,
      endTime: EPOCH,
    };
    const traceId = root.traceId;
    client.send({ type: "client:spans", traceId, spans: [span] });

    const start = await client.next();
    assertEquals(start.type, "trace:start");
    assertEquals(start.traceId, traceId);
    assertEquals(start.span.name, "GET /");
    const end = await client.next();
    assertEquals(end.type, "trace:end");
    assertEquals(end.trace.id, traceId);
    assertEquals(end.trace.spans.length, 2);
    const update = await client.next();
    assertEquals(update.type, "trace:update");
    assertEquals(update.trace.spans.length, 3);
    assertEquals(
      treeOf(tracer.getTrace(traceId)!),
      "GET /(step, paint)",
    );
    await client.close();
  });
});

Deno.test("A client that connects late receives the newest thousand traces, oldest first", async () => {
  const { tracer } = createTestTracer({ maxTraces: 1_100 });
  for (let i = 0; i < 1_100; i++) tracer.startTrace(`job ${i}`).end();
  await streaming(
    async ({ url }) => {
      const client = new Client(url);
      const { traces } = await client.next();
      assertEquals(traces.length, 1_000);
      assertEquals(traces[0].spans[0].name, "job 100");
      assertEquals(traces[999].spans[0].name, "job 1099");
      await client.close();
    },
    {},
    tracer,
  );
});

Deno.test("A ping is answered with the server's time, so that clocks can be compared", async () => {
  await streaming(async ({ url }) => {
    const client = new Client(url);
    await client.next();
    client.send({ type: "ping", sentAt: 123.5 });
    assertEquals(await client.next(), {
      type: "pong",
      sentAt: 123.5,
      now: EPOCH,
    });
    await client.close();
  }, { now: () => EPOCH });
});

Deno.test("A malformed message is answered with an error, and the connection stays open", async () => {
  await streaming(async ({ url, tracer }) => {
    const root = tracer.startTrace("GET /");
    root.end();
    const { traceId } = root;
    const client = new Client(url);
    await client.next();
    const unknown = 'type must be "client:spans" or "ping"';
    const cases: [unknown, Record<string, unknown>][] = [
      ["", { error: "The message must be JSON" }],
      ["{", { error: "The message must be JSON" }],
      ["null", { error: unknown }],
      ["5", { error: unknown }],
      ["[]", { error: unknown }],
      [{}, { error: unknown }],
      [{ type: "__proto__" }, { error: unknown }],
      [{ type: "client:spans" }, {
        added: 0,
        rejected: 0,
        error: "traceId must be 32 lower-case hex digits, not all zero",
      }],
      [{ type: "client:spans", traceId, spans: [null] }, {
        added: 0,
        rejected: 1,
        error: "spans[0] must be an object",
      }],
    ];
    for (const [message, error] of cases) {
      client.send(message);
      assertEquals(await client.next(), { type: "error", ...error });
    }
    client.send({ type: "ping", sentAt: 1 });
    assertEquals((await client.next()).type, "pong");
    await client.close();
  });
});

Deno.test("A message that is too large or binary closes the connection with 1009", async () => {
  await streaming(async ({ url }) => {
    for (
      const message of [
        JSON.stringify({ type: "ping", sentAt: "x".repeat(256 * 1024) }),
        new Uint8Array([1, 2, 3]),
      ]
    ) {
      const client = new Client(url);
      await client.next();
      client.send(message);
      const { code, reason } = await client.closed();
      assertEquals(code, 1009);
      assertEquals(reason, "Messages are text of at most 262144 characters");
    }
  });
});

Deno.test("A page of another origin or host name is rejected with 403", async () => {
  await streaming(async ({ port }) => {
    for (
      const [host, origin, status] of [
        [`127.0.0.1:${port}`, "http://evil.example", "403 Forbidden"],
        [`127.0.0.1:${port}`, "null", "403 Forbidden"],
        ["evil.example", "http://evil.example", "403 Forbidden"],
        [
          `127.0.0.1:${port}`,
          `http://127.0.0.1:${port}`,
          "101 Switching Protocols",
        ],
      ] as const
    ) {
      const connection = await Deno.connect({ port });
      await connection.write(new TextEncoder().encode(
        upgradeRequest(host, origin),
      ));
      const buffer = new Uint8Array(4096);
      const length = await connection.read(buffer) ?? 0;
      assertEquals(
        new TextDecoder().decode(buffer.subarray(0, length)).split("\r\n")[0],
        `HTTP/1.1 ${status}`,
      );
      connection.close();
    }
  });
});

function upgradeRequest(host: string, origin: string): string {
  return [
    "GET / HTTP/1.1",
    `Host: ${host}`,
    `Origin: ${origin}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "\r\n",
  ].join("\r\n");
}

Deno.test("A request without a WebSocket handshake is answered with 426 and Upgrade", async () => {
  await streaming(async ({ port }) => {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assertEquals(response.status, 426);
    assertEquals(response.headers.get("upgrade"), "websocket");
    assertEquals((await response.json()).error.code, "UPGRADE_REQUIRED");
  });
});

Deno.test("Each of many clients receives events, and one that leaves disturbs none", async () => {
  await streaming(async ({ url, tracer, stream }) => {
    const clients = Array.from({ length: 25 }, () => new Client(url));
    for (const client of clients) await client.next();
    assertEquals(stream.size, 25);

    await Promise.all(clients.splice(0, 10).map((client) => client.close()));
    tracer.startTrace("job").end();

    for (const client of clients) {
      assertEquals((await client.next()).type, "trace:start");
      assertEquals((await client.next()).trace.spans[0].name, "job");
    }
    await Promise.all(clients.map((client) => client.close()));
  });
});

Deno.test("No events are created while no client is connected", async () => {
  await streaming(async ({ url, tracer, stream }) => {
    let subscriptions = 0;
    const subscribe = tracer.subscribe.bind(tracer);
    tracer.subscribe = (...args) => {
      subscriptions++;
      const stop = subscribe(...args);
      return () => {
        subscriptions--;
        stop();
      };
    };
    assertEquals(subscriptions, 0);
    const client = new Client(url);
    await client.next();
    assertEquals(subscriptions, 1);
    await client.close();
    while (stream.size > 0) await new Promise((resolve) => setTimeout(resolve));
    assertEquals(subscriptions, 0);
  });
});

Deno.test("close() closes every connection with 1001 and unsubscribes", async () => {
  await streaming(async ({ url, tracer, stream }) => {
    const clients = Array.from({ length: 3 }, () => new Client(url));
    for (const client of clients) await client.next();
    await stream.close();
    for (const client of clients) {
      assertEquals((await client.closed()).code, 1001);
    }
    assertEquals(stream.size, 0);
    tracer.startTrace("later").end();
    assertEquals(onlyTrace(tracer).spans.size, 1);
  });
});

/** Parses the text messages in a WebSocket's bytes (RFC 6455 §5.2). */
async function* messagesOf(
  bytes: ReadableStream<Uint8Array>,
): AsyncGenerator<Message> {
  let buffer: Uint8Array = new Uint8Array(0);
  let inBody = false;
  for await (const chunk of bytes) {
    const joined = new Uint8Array(buffer.length + chunk.length);
    joined.set(buffer);
    joined.set(chunk, buffer.length);
    buffer = joined;
    if (!inBody) {
      const text = new TextDecoder("latin1").decode(buffer);
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) continue;
      assertMatch(text, /^HTTP\/1\.1 101 /);
      buffer = buffer.subarray(end + 4);
      inBody = true;
    }
    while (buffer.length >= 10) {
      const view = new DataView(buffer.buffer, buffer.byteOffset);
      const short = buffer[1]!;
      const [header, length] = short < 126
        ? [2, short]
        : short === 126
        ? [4, view.getUint16(2)]
        : [10, Number(view.getBigUint64(2))];
      if (buffer.length < header + length) break;
      const body = buffer.subarray(header, header + length);
      if (buffer[0] === 0x81) yield JSON.parse(new TextDecoder().decode(body));
      buffer = buffer.subarray(header + length);
    }
  }
}

Deno.test("A client that doesn't read misses events, receives their number, and takes no memory", async () => {
  await streaming(async ({ port, tracer, stream }) => {
    const connection = await Deno.connect({ port });
    await connection.write(new TextEncoder().encode(
      upgradeRequest(`127.0.0.1:${port}`, `http://127.0.0.1:${port}`),
    ));
    const messages = messagesOf(connection.readable);
    const { value: initial } = await messages.next();
    assertEquals([initial.type, stream.size], ["initial", 1]);
    // 64 MB, more than any system buffers for a socket.
    const text = "x".repeat(4_000);
    const sent = 260;
    for (let i = 0; i < sent; i++) {
      const root = tracer.startTrace(`job ${i}`);
      for (let k = 0; k < 62; k++) root.setAttribute(`key ${k}`, text);
      root.end();
    }

    // Sent as soon as the connection has caught up, without another event.
    let received = 0;
    let missed = 0;
    for await (const message of messages) {
      if (message.type === "trace:end" || message.type === "trace:start") {
        received++;
      }
      if (message.type === "dropped") missed += message.count;
      if (missed > 0) break;
    }

    assertGreater(missed, 0);
    assert(received > 0);
    assertEquals(received + missed, 2 * sent);
  });
});

Deno.test("Changes of a page that follow each other are one message, with all of them", async () => {
  await streaming(async ({ url, tracer }) => {
    const client = new Client(url);
    await client.next();
    const traceId = "a".repeat(32);
    for (let i = 0; i < 100; i++) {
      tracer.startTrace(`GET /${i}`, "request", { traceId }).end();
    }
    const messages: Message[] = [];
    const isWhole = () => messages.at(-1)?.trace?.spans.length === 100;
    while (!isWhole()) messages.push(await client.next());
    const counts = messages.filter(({ type }) => type !== "trace:start")
      .map(({ type, trace }) => [type, trace.id, trace.spans.length]);
    assertEquals(counts, [
      ["trace:end", traceId, 1],
      ["trace:update", traceId, 100],
    ]);
    await client.close();
  });
});

Deno.test("A running span is sent with its page, and again when its attributes change", async () => {
  await streaming(async ({ url, tracer }) => {
    const page = tracer.startTrace("GET /");
    page.end();
    const client = new Client(url);
    await client.next();
    const open = page.continuation()("rpc:news", "rpc") as Span;
    const update = async () => {
      const { trace } = await client.next();
      return [trace.id, trace.spans[1].attributes];
    };
    assertEquals((await client.next()).type, "trace:start");
    assertEquals(await update(), [page.traceId, { "app.open": true }]);
    open.setAttribute("messages", 7);
    assertEquals(await update(), [
      page.traceId,
      { messages: 7, "app.open": true },
    ]);
    open.end();
    const end = await client.next();
    assertEquals(end.trace.spans[1].attributes, { messages: 7 });
    await client.close();
  });
});

Deno.test("A linked trace is sent as part of the trace that links to it", async () => {
  await streaming(async ({ url, tracer }) => {
    const client = new Client(url);
    await client.next();
    const image = tracer.startTrace("GET /image");
    image.end();
    await client.next();
    assertEquals((await client.next()).trace.id, image.traceId);
    const traceId = "a".repeat(32);
    const span = {
      id: "00f067aa0ba902b7",
      parentId: null,
      name: "img",
      startTime: EPOCH,
      endTime: EPOCH,
      attributes: { "app.link": `00-${image.traceId}-${image.id}-01` },
    };
    client.send({ type: "client:spans", traceId, spans: [span] });
    const { type, trace } = await client.next();
    assertEquals([type, trace.id, trace.spans.length], [
      "trace:update",
      traceId,
      2,
    ]);
    await client.close();
  });
});
