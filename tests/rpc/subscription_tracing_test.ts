import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import {
  createChannel,
  createRouter,
  procedure,
  RPCError,
} from "@quartet/kit/rpc";
import {
  createTracer,
  type SpanData,
  type TraceData,
  tracePlugin,
  type TracePluginOptions,
  type TracerImpl,
} from "@quartet/kit/trace";
import {
  type Client,
  connect,
  errorLog,
  serveRouter,
  subscribe,
  type TestServer,
  until,
} from "./helpers.ts";

const CALLER = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLING_SPAN = "00f067aa0ba902b7";
const TRACEPARENT = `00-${CALLER}-${CALLING_SPAN}-01`;

/** Values that the test hands to the running generators, in order. */
let next = Promise.withResolvers<unknown>();
function send(value: unknown): void {
  next.resolve(value);
  next = Promise.withResolvers();
}

const letters = createChannel<string>({ history: 2 });
const router = createRouter({
  values: procedure.subscription(async function* ({ signal }) {
    const stopped = new Promise((resolve) =>
      signal.addEventListener("abort", resolve, { once: true })
    );
    for (;;) {
      const value = await Promise.race([next.promise, stopped]);
      if (signal.aborted || value === undefined) return;
      yield value;
    }
  }),
  none: procedure.subscription(async function* () {}),
  refused: procedure.subscription(async function* () {
    yield 1;
    throw await Promise.resolve(new RPCError("LIMIT", "Enough", 429));
  }),
  letters: procedure.subscription(({ signal, lastEventId }) =>
    letters.subscribe(signal, { lastEventId })
  ),
}, errorLog());

/** A traced server, and the records of its tracer. */
interface Traced extends TestServer {
  readonly tracer: TracerImpl;
  readonly records: readonly TraceData[];
  /** Waits for the records of a procedure's subscriptions. */
  ended(path: string, count?: number): Promise<SpanData[]>;
  /** Returns the open span of the procedure in a trace. */
  running(path: string, traceId: string): SpanData | undefined;
}

async function startTraced(options: TracePluginOptions = {}): Promise<Traced> {
  const tracer = createTracer();
  const records: TraceData[] = [];
  tracer.subscribe((event) => {
    if (event.type === "trace:end") records.push(event.trace);
  });
  const trace = tracePlugin(tracer, { authorize: () => true, ...options });
  const server = await serveRouter(router, {}, { trace });
  return Object.assign(server, {
    tracer,
    records,
    async ended(path: string, count = 1) {
      const find = () => rootsOf(records, `rpc:${path}`);
      await until(() => find().length >= count);
      return find();
    },
    running: (path: string, traceId: string) =>
      tracer.getTrace(traceId)?.spans.values()
        .find(({ name }) => name === `rpc:${path}`),
  });
}

function rootsOf(records: readonly TraceData[], name: string): SpanData[] {
  return records.map(({ spans, rootSpanId }) => spans.get(rootSpanId)!)
    .filter((root) => root.name === name);
}

/** Subscribes with a `traceparent`. */
function follow(
  client: Client,
  path: string,
  { id = "a", traceparent = TRACEPARENT as unknown, input, lastEventId }: {
    readonly id?: string;
    readonly traceparent?: unknown;
    readonly input?: unknown;
    readonly lastEventId?: string;
  } = {},
): void {
  client.send({ ...subscribe(id, path, input), lastEventId, traceparent });
}

Deno.test("A subscription with a traceparent continues that trace, and the first one of a socket links to its upgrade", async () => {
  await using server = await startTraced();
  await using client = await connect(server);
  follow(client, "none");
  await client.next();
  const other = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;
  follow(client, "none", { traceparent: other });
  await client.next();
  client.send(subscribe("a", "none"));
  await client.next();

  const [first, second, third] = await server.ended("none", 3);
  const [upgrade] = rootsOf(server.records, "GET /api/rpc");
  assertEquals(first!.traceId, CALLER);
  assertEquals(first!.parentId, CALLING_SPAN);
  assertEquals(
    first!.attributes["app.link.upgrade"],
    `00-${upgrade!.traceId}-${upgrade!.id}-01`,
  );
  // Its flag doesn't count: the decision is made at the upgrade.
  assertEquals(second!.traceId, "a".repeat(32));
  assertEquals(second!.parentId, "b".repeat(16));
  assertEquals(second!.attributes["app.link.upgrade"], undefined);
  assertEquals(third!.traceId, upgrade!.traceId);
  assertEquals(third!.parentId, upgrade!.id);
  assertEquals(third!.attributes["app.link.upgrade"], undefined);
});

Deno.test("A malformed traceparent is ignored, and the subscription continues the upgrade's trace", async () => {
  await using server = await startTraced();
  await using client = await connect(server);
  const malformed = [
    "",
    "00",
    TRACEPARENT.toUpperCase(),
    `00-${"0".repeat(32)}-${CALLING_SPAN}-01`,
    `00-${CALLER}-${"0".repeat(16)}-01`,
    `ff-${CALLER}-${CALLING_SPAN}-01`,
    `${TRACEPARENT}-00`,
    `${TRACEPARENT}\n`,
    "-".repeat(60_000),
    `00-${"a".repeat(60_000)}`,
    null,
    1,
    true,
    [TRACEPARENT],
    { toString: TRACEPARENT },
  ];
  for (const traceparent of malformed) {
    follow(client, "none", { traceparent });
    assertEquals((await client.next()).type, "complete");
  }
  const roots = await server.ended("none", malformed.length);
  const [upgrade] = rootsOf(server.records, "GET /api/rpc");
  for (const root of roots) {
    assertEquals(root.parentId, upgrade!.id);
    assertEquals(root.attributes["app.link.upgrade"], undefined);
  }
});

Deno.test("A message can't force the recording of a socket that isn't sampled", async () => {
  await using server = await startTraced({ sample: 0 });
  await using client = await connect(server);
  for (let i = 0; i < 20; i++) {
    follow(client, "none");
    assertEquals((await client.next()).type, "complete");
  }
  assertEquals(server.records, []);
  assertEquals(server.tracer.getTrace(CALLER), undefined);
});

Deno.test("10,000 subscribe messages with different traceparents leave a bounded number of traces", async () => {
  await using server = await startTraced();
  await using client = await connect(server);
  for (let round = 0; round < 100; round++) {
    for (let i = 0; i < 100; i++) {
      const number = (round * 100 + i + 1).toString(16);
      const traceparent = `00-${number.padStart(32, "0")}-${
        number.padStart(16, "0")
      }-01`;
      follow(client, "none", { id: `${i}`, traceparent });
    }
    const ends = await client.take(100);
    assert(ends.every(({ type }) => type === "complete"));
  }
  await until(() => server.records.length === 10_001);
  assert(server.tracer.getTraces().length <= 200);
});

Deno.test("A running subscription shows its input's shape, messages, bytes and the last one's time", async () => {
  await using server = await startTraced();
  await using client = await connect(server);
  const before = Date.now();
  follow(client, "values", {
    input: { room: "secret room", limit: 3, tags: ["hidden"], at: null },
  });
  const running = () => server.running("values", CALLER)?.attributes;
  await until(() => running() !== undefined);
  assertEquals(running()!["app.detached"], true);
  assertEquals(running()!["app.rpc.messages"], 0);
  assertEquals(
    running()!["app.rpc.input"],
    "{ room: string, limit: number, tags: string[], at: null }",
  );
  assertEquals(running()!["app.rpc.end"], undefined);

  send("grüße");
  const message = JSON.stringify(await client.next());
  await until(() => running()!["app.rpc.messages"] === 1);
  assertEquals(
    running()!["app.rpc.bytes"],
    new TextEncoder().encode(message).length,
  );
  const time = running()!["app.rpc.last_message_time"] as number;
  assert(time >= before && time <= Date.now());
  send("more");
  await until(() => running()!["app.rpc.messages"] === 2);
  assert(running()!["app.rpc.last_message_time"] as number >= time);
  assertEquals(server.records.length, 1, "only the upgrade has ended");
  assert(
    !JSON.stringify([...server.tracer.getTrace(CALLER)!.spans.values()])
      .includes("secret room"),
  );

  send(undefined);
  await client.next();
  const [ended] = await server.ended("values");
  assertEquals(ended!.attributes["app.rpc.messages"], 2);
  assertEquals(ended!.attributes["app.rpc.end"], "completed");
});

Deno.test("While a subscription runs, its upgrade belongs to the caller's trace, and either id finds it", async () => {
  await using server = await startTraced();
  await using client = await connect(server);
  follow(client, "values");
  await until(() => server.running("values", CALLER) !== undefined);
  await until(() => server.records.length === 1);
  const [upgrade] = rootsOf(server.records, "GET /api/rpc");
  const trace = server.tracer.getTrace(upgrade!.traceId)!;
  const names = trace.spans.values().map(({ name }) => name);
  assertEquals([...names].sort(), ["GET /api/rpc", "rpc:values"]);
  assertEquals(server.tracer.getTraces().map(({ id }) => id), [trace.id]);
});

Deno.test("The shape of an input is bounded, and has no key that may be data", async () => {
  const shapes: [input: unknown, shape: string | undefined][] = [
    [undefined, undefined],
    [null, "null"],
    ["text", "string"],
    [[], "[]"],
    [{}, "{}"],
    [[[[[["deep"]]]]], "[…][][][]"],
    [{ a: { b: { c: { d: 1 } } } }, "{ a: { b: { c: { … } } } }"],
    [{ ok: 1, "ada@example.com": 2, after: 3 }, "{ ok: number, … }"],
    [{ ["x".repeat(33)]: 1 }, "{ … }"],
    [
      Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i])),
      `{ ${
        Array.from({ length: 12 }, (_, i) => `k${i}: number`).join(", ")
      }, … }`,
    ],
  ];
  await using server = await startTraced();
  await using client = await connect(server);
  for (const [input] of shapes) {
    follow(client, "none", { input });
    await client.next();
  }
  const roots = await server.ended("none", shapes.length);
  assertEquals(
    roots.map(({ attributes }) => attributes["app.rpc.input"]),
    shapes.map(([, shape]) => shape),
  );
  const names = (letter: string) =>
    Array.from({ length: 12 }, (_, i) => letter.repeat(30) + i);
  const wide = Object.fromEntries(names("a").map((name) => [name, name]));
  follow(client, "none", { input: wide });
  await client.next();
  const root = (await server.ended("none", shapes.length + 1)).at(-1)!;
  assertMatch(`${root.attributes["app.rpc.input"]}`, /^\{ .{197}…$/);
});

Deno.test("The span of a subscription shows how it ended", async () => {
  await using server = await startTraced();
  const endOf = async (path: string, count: number) => {
    const { attributes, status } = (await server.ended(path, count)).at(-1)!;
    const end = attributes["app.rpc.end"];
    return [end, attributes["app.websocket.close_code"], status];
  };
  await using client = await connect(server);
  follow(client, "none");
  assertEquals(await endOf("none", 1), ["completed", undefined, "ok"]);
  follow(client, "refused", { id: "r" });
  assertEquals(await endOf("refused", 1), ["failed", undefined, "ok"]);

  follow(client, "values", { id: "v" });
  await until(() => server.running("values", CALLER) !== undefined);
  client.send({ type: "unsubscribe", id: "v" });
  assertEquals(await endOf("values", 1), ["unsubscribed", undefined, "ok"]);

  const leaving = await connect(server);
  follow(leaving, "values");
  await leaving.settle();
  leaving.socket.close(4001, "a reason of the client");
  await leaving.closed;
  assertEquals(await endOf("values", 2), ["socket_closed", 4001, "ok"]);
});

Deno.test("The span of a subscription shows that the server has shut down", async () => {
  const server = await startTraced();
  await using client = await connect(server);
  follow(client, "values");
  await client.settle();
  await server[Symbol.asyncDispose]();
  const [span] = await server.ended("values");
  assertEquals(span!.attributes["app.rpc.end"], "shutdown");
});

Deno.test("The spans of a flaky subscription show what was resumed and where messages were lost", async () => {
  await using server = await startTraced();
  const first = await connect(server);
  follow(first, "letters");
  const [started] = await first.take(1);
  await letters.publish("a");
  await first.next();
  first.socket.close(4000);
  await first.closed;
  await server.ended("letters");

  for (const letter of "bcd") await letters.publish(letter);
  await using second = await connect(server);
  follow(second, "letters", { lastEventId: started!.eventId! });
  const { error } = await second.next();
  assertEquals(Object(error!.details).reason, "MESSAGES_LOST");
  follow(second, "letters", { id: "b" });
  await second.next();
  second.send({ type: "unsubscribe", id: "b" });
  const spans = await server.ended("letters", 3);
  assertEquals(
    spans.map(({ attributes }) => [
      attributes["app.rpc.resumed"],
      attributes["app.rpc.end"],
      attributes["rpc.status_code"],
    ]),
    [
      [undefined, "socket_closed", undefined],
      [true, "gap", "SUBSCRIPTION_ERROR"],
      [undefined, "unsubscribed", undefined],
    ],
  );
  const links = spans.map(({ attributes }) => attributes["app.link.upgrade"]);
  assertEquals(links[2], undefined);
  assertNotEquals(links[0], links[1]);
});
