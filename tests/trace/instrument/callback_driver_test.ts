import { assertEquals, assertThrows } from "@std/assert";
import { createTracer, tracedAdapter } from "@quartet/kit/trace";
import { onlyTrace, spanNamed, treeOf } from "../fakes.ts";

type Callback = (error: Error | null, rows?: unknown[]) => void;

/**
 * Returns a driver that calls back on an event of `connection`, in the context
 * of its sender.
 */
function driverOf(connection: EventTarget) {
  return tracedAdapter({
    query(_text: string, callback: Callback): void {
      connection.addEventListener("data", () => callback(null, [1]), {
        once: true,
      });
    },
  });
}

Deno.test("Spans in a driver's callback belong to the request that made the query", async () => {
  const connection = new EventTarget();
  const driver = driverOf(connection);
  const tracer = createTracer();
  const answer = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  // The first request opened the connection, and stays open until the end.
  const first = tracer.withSpan("first", "request", async () => {
    await asked.promise;
    connection.dispatchEvent(new Event("data"));
    await answer.promise;
  });
  const second = tracer.withSpan("second", "request", async () => {
    driver.query("SELECT 1", () => {
      tracer.withSpan("of the second", "custom", () => answer.resolve());
    });
    asked.resolve();
    await answer.promise;
  });
  await Promise.all([first, second]);
  assertEquals(
    tracer.getTraces().map((trace) => treeOf(trace)).sort(),
    ["first", "second(db.query, of the second)"],
  );
});

Deno.test("A callback driver that throws synchronously fails the span of its query", () => {
  const driver = tracedAdapter({
    query(_text: string, _callback: Callback): void {
      throw new TypeError("The pool is closed");
    },
  });
  const tracer = createTracer();
  tracer.withSpan("root", "request", () => {
    assertThrows(
      () => driver.query("SELECT 1", () => {}),
      TypeError,
      "The pool is closed",
    );
  });
  const span = spanNamed(onlyTrace(tracer), "db.query");
  assertEquals(span.status, "error");
  assertEquals(span.attributes["error.type"], "TypeError");
});

Deno.test("An error thrown by a callback that is called synchronously isn't a failure of the query", () => {
  const driver = tracedAdapter({
    query: (_text: string, callback: Callback) => callback(null, []),
  });
  const tracer = createTracer();
  tracer.withSpan("root", "request", () => {
    assertThrows(
      () =>
        driver.query("SELECT 1", () => {
          throw new Error("mine");
        }),
      Error,
      "mine",
    );
  });
  assertEquals(spanNamed(onlyTrace(tracer), "db.query").status, "ok");
});
