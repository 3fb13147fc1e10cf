import { assertEquals, assertStrictEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createTracer,
  getActiveSpan,
  getTracer,
  noopTracer,
  setActiveSpan,
  setTracer,
  type TraceData,
  traceMiddleware,
  type Tracer,
  withSpan,
} from "@quartet/kit/trace";
import { onlyTrace, rootOf, treeOf } from "./fakes.ts";

Deno.test("getTracer() returns the tracer that was set, and before that one that does nothing", () => {
  assertStrictEquals(getTracer(), noopTracer);
  const tracer = createTracer();
  setTracer(tracer);
  try {
    assertStrictEquals(getTracer(), tracer);
  } finally {
    setTracer(noopTracer);
  }
});

Deno.test("traceMiddleware() without a tracer uses the one that was set", async () => {
  const tracer = createTracer();
  setTracer(tracer);
  try {
    const app = createApp().use(traceMiddleware());
    await app.fetch(new Request("http://localhost/"));
  } finally {
    setTracer(noopTracer);
  }
  assertEquals(tracer.getTraces().length, 1);
});

Deno.test("getActiveSpan() returns undefined outside a trace", () => {
  assertEquals(getActiveSpan(), undefined);
});

Deno.test("setActiveSpan() applies to the rest of the function and to work that it starts", async () => {
  const tracer = createTracer();
  await tracer.withSpan("root", "request", async (root) => {
    const other = root.child("other", "custom");
    await (async () => {
      await Promise.resolve();
      setActiveSpan(other);
      assertStrictEquals(getActiveSpan(), other);
      tracer.withSpan("below other", "custom", () => {});
      await new Promise((resolve) => setTimeout(resolve));
      tracer.withSpan("later", "custom", () => {});
    })();
    tracer.withSpan("inside", "custom", () => {
      setActiveSpan(other);
    });
    assertStrictEquals(getActiveSpan(), root);
    setActiveSpan(undefined);
    assertEquals(getActiveSpan(), undefined);
    tracer.startTrace("of its own").end();
    other.end();
  });

  const trees = tracer.getTraces().map((trace) => treeOf(trace));

  assertEquals(trees, [
    "of its own",
    "root(other(below other, later), inside)",
  ]);
});

Deno.test("Spans find their parents through promises, timers and callbacks", async () => {
  const tracer = createTracer();
  await tracer.withSpan("root", "request", async () => {
    const timer = Promise.withResolvers<void>();
    setTimeout(() => {
      tracer.withSpan("timer", "custom", () => {});
      timer.resolve();
    });
    const micro = Promise.withResolvers<void>();
    queueMicrotask(() => {
      tracer.withSpan("microtask", "custom", () => {});
      micro.resolve();
    });
    await Promise.all([timer.promise, micro.promise]);
    await tracer.withSpan("outer", "custom", async () => {
      const step = async (name: string) => {
        await new Promise((resolve) => setTimeout(resolve));
        await tracer.withSpan(name, "custom", async () => {
          await Promise.resolve();
          tracer.startSpan(`below ${name}`).end();
        });
      };
      await Promise.all([step("a"), step("b")]);
    });
    tracer.withSpan("last", "custom", () => {});
  });

  assertEquals(
    treeOf(onlyTrace(tracer)),
    "root(microtask, timer, outer(a(below a), b(below b)), last)",
  );
});

/** A random tree of work. The names contain the place of each span. */
interface Work {
  readonly name: string;
  readonly delay: number;
  readonly how: "one by one" | "at once" | "by timer";
  readonly below: readonly Work[];
}

function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function plan(
  name: string,
  below: (limit: number) => number,
  depth: number,
): Work {
  const count = depth === 0 ? 0 : 1 + below(3);
  return {
    name,
    delay: below(4),
    how: (["one by one", "at once", "by timer"] as const)[below(3)]!,
    below: Array.from(
      { length: count },
      (_, i) => plan(`${name}.${i}`, below, depth - 1),
    ),
  };
}

function work(
  tracer: Tracer,
  { name, delay, how, below }: Work,
): Promise<void> {
  return tracer.withSpan(name, "custom", async () => {
    await new Promise((resolve) => setTimeout(resolve, delay));
    if (how === "one by one") {
      for (const step of below) await work(tracer, step);
    } else if (how === "at once") {
      await Promise.all(below.map((step) => work(tracer, step)));
    } else {
      await Promise.all(
        below.map((step) =>
          new Promise<void>((resolve, reject) => {
            setTimeout(() => work(tracer, step).then(resolve, reject), delay);
          })
        ),
      );
    }
  });
}

function namesOf(work: Work): string[] {
  return [work.name, ...work.below.flatMap(namesOf)];
}

/** Checks that each span is where its name says. */
function checkTree(trace: TraceData, work: Work): void {
  const names = [...trace.spans.values()].map((span) => span.name);
  assertEquals(
    names.filter((name) => name.startsWith("req")).sort(),
    namesOf(work).sort(),
  );
  for (const span of trace.spans.values()) {
    assertEquals(span.traceId, trace.id);
    assertEquals(span.status, "ok");
    if (!/^req.*\./.test(span.name)) continue;
    const parent = trace.spans.get(span.parentId!)!;
    assertEquals(parent.name, span.name.slice(0, span.name.lastIndexOf(".")));
    assertEquals(parent.children.filter((id) => id === span.id).length, 1);
  }
}

Deno.test("200 concurrent requests each have exactly their own spans, under the right parents", async () => {
  const tracer = createTracer();
  const plans = Array.from(
    { length: 200 },
    (_, i) => plan(`req${i}`, seeded(i + 1), 3),
  );
  const app = createApp({
    routes: [{
      path: "/jobs/:index",
      async loader({ params }) {
        await work(tracer, plans[Number(params.index)]!);
        return {};
      },
    }],
  });
  app.use(traceMiddleware(tracer));
  const server = await app.serve({ port: 0, signals: false, onListen() {} });

  const responses = await Promise.all(plans.map(async (_, i) => {
    const response = await fetch(
      `http://127.0.0.1:${server.address.port}/jobs/${i}`,
    );
    await response.body?.cancel();
    return response;
  }));
  await server.shutdown();

  assertEquals(tracer.getTraces().length, 200);
  for (const [i, response] of responses.entries()) {
    const trace = tracer.getTrace(response.headers.get("x-app-trace-id")!)!;
    assertEquals(rootOf(trace).name, `GET /jobs/${i}`);
    assertEquals(trace.metadata.droppedSpans, undefined);
    checkTree(trace, plans[i]!);
  }
});

Deno.test("setActiveSpan() replaces the previous call, however often it is called", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("job");
  for (let i = 0; i < 100_000; i++) {
    const span = root.child(`step ${i}`, "custom");
    setActiveSpan(span);
    span.end();
  }
  setActiveSpan(root);
  assertEquals(getActiveSpan(), root);
  setActiveSpan(undefined);
  assertEquals(getActiveSpan(), undefined);
});

Deno.test("withSpan() opens a child of the active span, and without one only calls the function", () => {
  assertEquals(withSpan("alone", "custom", () => 1), 1);
  const tracer = createTracer();
  tracer.withSpan("job", "custom", () => {
    assertEquals(withSpan("step", "data", (span) => span.traceId.length), 32);
  });
  assertEquals(treeOf(onlyTrace(tracer)), "job(step)");
});
