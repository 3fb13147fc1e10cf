import { assertEquals } from "@std/assert";
import { createTracer, createTraceWebSocket } from "@quartet/kit/trace";

Deno.test("A write-only socket receives no traces", async () => {
  const tracer = createTracer();
  tracer.withSpan("before", "custom", () => {});
  const stream = createTraceWebSocket(tracer);
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request, info) => stream.upgrade(request, info),
  );
  const url = `ws://127.0.0.1:${server.addr.port}/`;
  const sending = await open(`${url}?role=client`);
  const watching = await open(url);
  assertEquals(stream.size, 2);

  const root = tracer.startTrace("GET /");
  root.end();
  const span = {
    id: "00f067aa0ba902b7",
    name: "browser",
    startTime: 1,
    endTime: 2,
  };
  sending.send({ type: "client:spans", traceId: root.traceId, spans: [span] });
  sending.send({ type: "ping", sentAt: 1 });
  await sending.received("pong");
  await watching.received("trace:update");

  assertEquals(sending.types, ["pong"]);
  assertEquals(watching.types, [
    "initial",
    "trace:start",
    "trace:end",
    "trace:update",
  ]);
  assertEquals(tracer.getTrace(root.traceId)?.spans.size, 2);

  const closed = Promise.all([sending.closed, watching.closed]);
  await stream.close();
  await closed;
  assertEquals(stream.size, 0);
});

Deno.test("Without reading sockets, nothing subscribes to the tracer", async () => {
  const tracer = createTracer();
  let listeners = 0;
  const { subscribe } = tracer;
  tracer.subscribe = (...args) => {
    listeners++;
    return subscribe.apply(tracer, args);
  };
  const stream = createTraceWebSocket(tracer);
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request, info) => stream.upgrade(request, info),
  );
  const sending = await open(
    `ws://127.0.0.1:${server.addr.port}/?role=client`,
  );
  sending.send({ type: "ping", sentAt: 1 });
  await sending.received("pong");
  assertEquals(listeners, 0);
  await stream.close();
  await sending.closed;
});

async function open(url: string) {
  const socket = new WebSocket(url);
  const types: string[] = [];
  let look = () => {};
  socket.onmessage = ({ data }) => {
    types.push(JSON.parse(data).type);
    look();
  };
  const closed = new Promise<void>((resolve) => {
    socket.onclose = () => resolve();
  });
  await new Promise((resolve) => socket.onopen = resolve);
  return {
    types,
    closed,
    send: (message: unknown) => socket.send(JSON.stringify(message)),
    received: (type: string) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (types.includes(type)) resolve();
        };
        look();
      }),
  };
}
