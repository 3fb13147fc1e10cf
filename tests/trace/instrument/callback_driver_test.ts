import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
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

/** A pool of one client, which knows its clients by identity. */
class Pool {
  readonly #client = {
    query: (_text: string) => Promise.resolve([1]),
  };
  #isFree = true;
  #waiting: Callback[] = [];

  getConnection(callback: Callback): void {
    if (this.#isFree) callback(null, this.#client as never);
    else this.#waiting.push(callback);
    this.#isFree = false;
  }

  release(client: unknown): void {
    assertStrictEquals(client, this.#client);
    this.#isFree = true;
    const next = this.#waiting.shift();
    if (next !== undefined) this.getConnection(next);
  }
}

Deno.test("A pool that calls back gives traced clients to the right requests, and takes them back", async () => {
  const pool = tracedAdapter(new Pool());
  const tracer = createTracer();
  const ask = (name: string) =>
    tracer.withSpan(name, "request", () =>
      new Promise<void>((resolve) => {
        pool.getConnection(async (_error, client) => {
          const { query } = client as unknown as {
            query(text: string): Promise<number[]>;
          };
          await query(`SELECT ${name}`);
          // The next request is called back from here.
          pool.release(client);
          resolve();
        });
      }));
  await Promise.all(["a", "b", "c"].map(ask));
  const queries = tracer.getTraces().map((trace) =>
    [...trace.spans.values()].map(({ attributes, name }) =>
      attributes["db.query.text"] ?? name
    )
  );
  assertEquals(queries, [["a", "SELECT a"], ["b", "SELECT b"], [
    "c",
    "SELECT c",
  ]]);
});
