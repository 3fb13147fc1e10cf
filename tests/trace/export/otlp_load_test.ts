import { assert, assertEquals } from "@std/assert";
import { createOTLPExporter, createTracer } from "@quartet/kit/trace";
import { unlessStalled } from "../../stalls.ts";

/** A collector in a child process that answers after a delay. */
interface SlowCollector extends AsyncDisposable {
  readonly url: string;
  /**
   * Returns the numbers of received traces and of distinct ones, and the
   * maximum of concurrent requests.
   */
  counts(): Promise<{ traces: number; distinct: number; atOnce: number }>;
}

/** A longer pause between traces is a stall, in milliseconds. */
const MAX_PAUSE = 50;

const COLLECTOR = new URL("./slow_collector.ts", import.meta.url).pathname;

async function startCollector(
  ...args: readonly string[]
): Promise<SlowCollector> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--allow-net", COLLECTOR, ...args],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await lines.read();
  const url = value!.trim();
  return {
    url,
    counts: async () => await (await fetch(`${url}/counts`)).json(),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await lines.cancel();
      await child.status;
    },
  };
}

/**
 * Ends this number of traces per second, with three spans each. A stall of the
 * machine isn't made up for: the exporter would get a burst that no one promised.
 */
async function endTraces(
  tracer: ReturnType<typeof createTracer>,
  perSecond: number,
  seconds: number,
): Promise<void> {
  let last = performance.now();
  let due = 0;
  for (let ended = 0; ended < perSecond * seconds;) {
    const now = performance.now();
    due += Math.min(now - last, MAX_PAUSE) / 1000 * perSecond;
    last = now;
    for (; ended < Math.min(due, perSecond * seconds); ended++) {
      tracer.withSpan("GET /orders/:id", "request", (span) => {
        span.setAttribute("http.route", "/orders/:id");
        span.child("db.query", "database").end();
        span.child("render", "custom").end();
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

Deno.test(
  "The exporter loses none of 2,000 traces a second to a collector that answers in 100 ms",
  unlessStalled(async () => {
    await using collector = await startCollector("100");
    const tracer = createTracer({ maxTraces: 10 });
    const exporter = createOTLPExporter({ url: collector.url });
    exporter.attach(tracer);
    await endTraces(tracer, 2_000, 4);
    await exporter.close({ timeoutMs: 20_000 });

    const { exported, dropped, failed, queued } = exporter.stats;
    assertEquals([exported, dropped, failed, queued], [8_000, 0, 0, 0]);
    const { traces, distinct, atOnce } = await collector.counts();
    assertEquals([traces, distinct], [8_000, 8_000]);
    assert(atOnce <= 8, `${atOnce} requests at a time`);
  }),
);

Deno.test(
  "The exporter sends other batches while some are retried, and loses none",
  unlessStalled(async () => {
    // Rejects every fourth request, and accepts its retry.
    await using collector = await startCollector("20", "4");
    const tracer = createTracer({ maxTraces: 10 });
    const errors: string[] = [];
    const exporter = createOTLPExporter({
      url: collector.url,
      onError: ({ message }) => errors.push(message),
    });
    exporter.attach(tracer);
    await endTraces(tracer, 1_000, 2);
    await exporter.close({ timeoutMs: 20_000 });

    const { exported, dropped, failed, queued } = exporter.stats;
    assertEquals([exported, dropped, failed, queued], [2_000, 0, 0, 0]);
    assertEquals((await collector.counts()).distinct, 2_000);
    assert(errors.length > 0);
  }),
);

Deno.test(
  "The exporter counts each trace once while a collector is overloaded",
  unlessStalled(async () => {
    await using collector = await startCollector("100");
    const tracer = createTracer({ maxTraces: 10 });
    const exporter = createOTLPExporter({
      url: collector.url,
      batch: { maxSize: 10, maxQueue: 200, maxInFlight: 2 },
      onError: () => {},
    });
    exporter.attach(tracer);
    await endTraces(tracer, 2_000, 1);
    await exporter.close({ timeoutMs: 20_000 });

    const { exported, failed, queued, lost } = exporter.stats;
    assertEquals([failed, queued, lost.closed], [0, 0, 0]);
    assertEquals(exported + lost.queueFull, 2_000);
    assert(lost.queueFull > 0);
    const { traces, atOnce } = await collector.counts();
    assertEquals([traces, atOnce], [exported, 2]);
  }),
);
