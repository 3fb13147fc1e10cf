/** Disposing with `using` closes what can be closed or stopped. */

import { assertEquals } from "@std/assert";
import {
  createCLIReporter,
  createOTLPExporter,
  createTracer,
  createTraceWebSocket,
} from "@quartet/kit/trace";
import * as noop from "@quartet/kit/trace/noop";

Deno.test("Disposing a trace socket closes its connections", async () => {
  await using stream = createTraceWebSocket(createTracer());
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request, info) => stream.upgrade(request, info),
  );
  const socket = new WebSocket(`ws://127.0.0.1:${server.addr.port}/`);
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  {
    await using inner = stream;
    await new Promise((resolve) => socket.onmessage = resolve);
    assertEquals(inner.size, 1);
  }
  assertEquals((await closed).code, 1001);
  assertEquals(stream.size, 0);
});

Deno.test("Disposing an exporter sends the traces that wait", async () => {
  const tracer = createTracer();
  const sent: string[] = [];
  let waiting: readonly number[] = [];
  {
    await using exporter = createOTLPExporter({
      url: "http://localhost:4318",
      fetch: (input) => {
        sent.push(String(input));
        return Promise.resolve(new Response());
      },
    });
    exporter.attach(tracer);
    tracer.withSpan("job", "custom", () => {});
    const { exported, dropped, failed, queued } = exporter.stats;
    waiting = [exported, dropped, failed, queued];
  }
  assertEquals(waiting, [0, 0, 0, 1]);
  assertEquals(sent, ["http://localhost:4318/v1/traces"]);
  tracer.withSpan("later", "custom", () => {});
  assertEquals(sent.length, 1);
});

Deno.test("Disposing a reporter stops its output", () => {
  const tracer = createTracer();
  const printed: string[] = [];
  {
    using _reporter = createCLIReporter(tracer, {
      write: (text) => printed.push(text.split(" ")[0]!),
      color: false,
    });
    tracer.withSpan("job", "custom", () => {});
  }
  tracer.withSpan("later", "custom", () => {});
  assertEquals(printed, ["job"]);
});

Deno.test("Objects of the no-op entry can be disposed", async () => {
  const tracer = noop.createTracer();
  await using stream = noop.createTraceWebSocket(tracer);
  await using exporter = noop.createOTLPExporter({ url: "" });
  using reporter = noop.createCLIReporter(tracer);
  assertEquals(stream.size, 0);
  assertEquals(exporter.stats.queued, 0);
  reporter.close();
});
