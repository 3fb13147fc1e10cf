/** Query builders return lazy queries, which run each time they are awaited. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  createTracer,
  getActiveSpan,
  traceAuthCheck,
  tracedAdapter,
  traceQuery,
  withErrorCapture,
} from "@quartet/kit/trace";
import { onlyTrace, spanNamed } from "../fakes.ts";

/**
 * Returns a lazy query. `starts` receives the name of the active span at each
 * start.
 */
function lazy<T>(run: () => T | Promise<T>) {
  const query = {
    starts: [] as (string | undefined)[],
    then(...args: Parameters<Promise<T>["then"]>) {
      const span = getActiveSpan() as { name?: string } | undefined;
      query.starts.push(span?.name);
      return (async () => await run())().then(...args);
    },
  };
  // Builders have the type of a promise, but only implement `then`.
  return query as typeof query & Promise<T>;
}

Deno.test("traceQuery() starts a lazy query once, in its span, and counts its rows", async () => {
  const query = lazy(() => ["France", "Germany"]);
  const tracer = createTracer();
  await tracer.withSpan("root", "request", async () => {
    const result = traceQuery("SELECT name FROM country", () => query);
    assert(result instanceof Promise);
    assertEquals(await result, ["France", "Germany"]);
    await result;
  });
  const { attributes } = spanNamed(onlyTrace(tracer), "db.query");
  assertEquals(attributes["db.response.returned_rows"], 2);
  assertEquals(query.starts, ["db.query"]);
});

Deno.test("tracedAdapter() counts the rows of lazy queries and traces a client from a lazy call", async () => {
  const query = lazy(() => [1, 2, 3]);
  const client = { query: (_text: string) => query };
  const connecting = lazy(() => client);
  const driver = tracedAdapter({ connect: () => connecting });
  const tracer = createTracer();
  await tracer.withSpan("root", "request", async () => {
    const connected = await driver.connect();
    assertEquals(await connected.query("SELECT 1"), [1, 2, 3]);
  });
  const { attributes } = spanNamed(onlyTrace(tracer), "db.query");
  assertEquals(attributes["db.response.returned_rows"], 3);
  assertEquals(query.starts, ["db.query"]);
  assertEquals(connecting.starts, ["root"]);
});

Deno.test("tracedAdapter() traces a statement that is prepared when awaited, and its failure", async () => {
  const driver = tracedAdapter({
    prepare: (text: string) =>
      lazy(() => {
        if (text.includes("nowhere")) throw new Error("no such table");
        return { all: () => [1, 2] };
      }),
  });
  const tracer = createTracer();
  await tracer.withSpan("root", "request", async () => {
    const statement = await driver.prepare("SELECT 1");
    assertEquals(statement.all(), [1, 2]);
    await assertRejects(
      async () => await driver.prepare("SELECT * FROM nowhere"),
      Error,
      "no such table",
    );
  });
  const [, all, failed] = onlyTrace(tracer).spans.values();
  assertEquals(all?.attributes["db.response.returned_rows"], 2);
  assertEquals(failed?.status, "error");
});

Deno.test("traceAuthCheck() records the result of a lazy query", async () => {
  const query = lazy(() => false);
  const tracer = createTracer();
  await tracer.withSpan("root", "request", async () => {
    assertEquals(await traceAuthCheck("owner", () => query), false);
  });
  const { attributes } = spanNamed(onlyTrace(tracer), "auth:owner");
  assertEquals(attributes["app.auth.allowed"], false);
  assertEquals(query.starts, ["auth:owner"]);
});

Deno.test("withErrorCapture() records the rejection of a lazy query, and doesn't start it outside a trace", async () => {
  const query = lazy(() => {
    throw new RangeError("too far");
  });
  const capture = withErrorCapture(() => query);
  assertEquals(capture(), query);
  assertEquals(query.starts, []);

  const tracer = createTracer();
  await tracer.withSpan("root", "request", async () => {
    await assertRejects(() => capture(), RangeError, "too far");
  });
  const { status, events } = spanNamed(onlyTrace(tracer), "root");
  assertEquals(status, "error");
  assertEquals(events.map(({ name }) => name), ["exception"]);
  assertEquals(query.starts, ["root"]);
});
