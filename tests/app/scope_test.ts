import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { Context, createApp, observe } from "@quartet/kit/app";
import { RecordedSpan } from "./recorder.ts";
import {
  currentScope,
  enterScope,
  RequestScope,
  runInScope,
} from "../../core/request_scope.ts";
import { runSpan } from "../../core/observe.ts";

/** Runs `fn` in the scope of a new root span, and returns that span. */
async function traced(fn: () => unknown): Promise<RecordedSpan> {
  const root = new RecordedSpan("root", "request");
  await runInScope(new RequestScope(undefined, root), fn);
  return root;
}

const openSpan = () => currentScope()?.span as RecordedSpan | undefined;

Deno.test("currentScope() returns undefined outside a request", () => {
  assertStrictEquals(currentScope(), undefined);
});

Deno.test("200 concurrent requests over sockets each see their own context and spans", async () => {
  const app = createApp();
  app.use((request, context, next) => {
    const scope = currentScope()!;
    assertStrictEquals(scope.context, context);
    scope.span = new RecordedSpan(new URL(request.url).pathname, "request");
    return next();
  });
  const waiting: (() => void)[] = [];
  app.route({
    path: "/:id",
    async handler(_request, context) {
      const { id } = context.params;
      const wrong: string[] = [];
      const root = currentScope()!.span as RecordedSpan;
      const look = (where: string) => {
        const scope = currentScope();
        if (scope?.context !== context) wrong.push(`context ${where}`);
        if (scope?.span?.root !== root) wrong.push(`span ${where}`);
      };
      const work = (name: string) =>
        observe(`${id} ${name}`, "custom", async () => {
          look(`in ${name}`);
          await new Promise((resolve) => setTimeout(resolve, Number(id) % 3));
          look(`in ${name} after a timer`);
          await observe(`${id} ${name}, below`, "custom", async () => {
            await Promise.resolve();
            look(`below ${name}`);
          });
        });

      look("at first");
      // Each request continues once all have reached this point.
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 200) { for (const go of waiting) go(); }
      });
      look("after all have arrived");
      await Promise.all([work("a"), work("b"), work("c")]);
      look("after Promise.all");
      await new Promise<void>((resolve) =>
        queueMicrotask(() => {
          look("in a microtask");
          resolve();
        })
      );

      const works = root.children.filter(({ layer }) => layer === "custom");
      const tree = works.map(({ name, ended, children }) => [
        name,
        ended,
        children.map((child) => child.name),
      ]);
      return Response.json({ root: root.name, wrong, tree });
    },
  });

  const server = await app.serve({ port: 0, onListen() {}, signals: false });
  const { port } = server.address;
  await Promise.all(Array.from({ length: 200 }, async (_, id) => {
    const response = await fetch(`http://127.0.0.1:${port}/${id}`);
    assertEquals(await response.json(), {
      root: `/${id}`,
      wrong: [],
      tree: ["a", "b", "c"].map((
        name,
      ) => [`${id} ${name}`, 1, [`${id} ${name}, below`]]),
    });
  }));
  await server.shutdown();
});

Deno.test("observe() only runs the function if nothing is traced", () => {
  let given: unknown = "nothing";
  const lazy = { then: () => assert(false, "nobody awaits it") };
  const result = observe("x", "custom", (span) => {
    given = span;
    return lazy;
  });
  assertStrictEquals(given, undefined);
  assertStrictEquals(result, lazy);
});

Deno.test("observe() passes more arguments on, in a trace and outside", async () => {
  const add = (span: unknown, a: number, b: number) =>
    [span !== undefined, a + b] as const;
  assertEquals(observe("add", "custom", add, 1, 2), [false, 3]);
  await traced(() => {
    assertEquals(observe("add", "custom", add, 3, 4), [true, 7]);
  });
});

Deno.test("observe() returns the function's result and ends its span", async () => {
  let open: RecordedSpan | undefined;
  const root = await traced(() => {
    const result = observe("sum", "data", (span) => {
      open = openSpan();
      assertStrictEquals(span, open);
      assertEquals(open!.ended, 0);
      return 6;
    });
    assertEquals(result, 6);
    assertStrictEquals(openSpan()?.name, "root");
  });
  assertStrictEquals(root.children[0], open);
  assertEquals([open!.name, open!.layer, open!.ended], ["sum", "data", 1]);
  assertEquals(open!.errors, []);
});

Deno.test("observe() ends its span when the promise settles, not before", async () => {
  const gate = Promise.withResolvers<number>();
  const root = await traced(async () => {
    const result = observe("wait", "custom", () => gate.promise);
    const span = openSpan()!.children[0]!;
    assertEquals(span.ended, 0);
    gate.resolve(7);
    assertEquals(await result, 7);
    assertEquals(span.ended, 1);
  });
  assertEquals(root.children.length, 1);
});

Deno.test("observe() records a thrown error and rethrows it", async () => {
  const error = new Error("no");
  const root = await traced(() => {
    assertStrictEquals(
      assertThrows(() =>
        observe("sync", "custom", () => {
          throw error;
        })
      ),
      error,
    );
  });
  const [span] = root.children;
  assertEquals([span!.errors, span!.ended], [[error], 1]);
  assertEquals(root.errors, []);
});

Deno.test("observe() records a rejection and rejects with it", async () => {
  const error = new Error("no");
  const root = await traced(async () => {
    const thrown = await assertRejects(() =>
      observe("async", "custom", () => Promise.reject(error))
    );
    assertStrictEquals(thrown, error);
  });
  const [span] = root.children;
  assertEquals([span!.errors, span!.ended], [[error], 1]);
});

Deno.test("observe() treats a thrown Response as a result, not an error", async () => {
  const response = new Response(null, { status: 303 });
  const root = await traced(async () => {
    for (
      const fn of [() => Promise.reject(response), () => {
        throw response;
      }]
    ) {
      try {
        await observe("redirect", "custom", fn);
        assert(false, "it was rethrown");
      } catch (thrown) {
        assertStrictEquals(thrown, response);
      }
    }
  });
  assertEquals(root.children.length, 2);
  for (const { errors, ended } of root.children) {
    assertEquals([errors, ended], [[], 1]);
  }
});

/** Creates a query that starts when it's awaited, as query builders do. */
function lazyQuery(run: (resolve: (value: number) => void) => unknown) {
  const query = {
    starts: 0,
    then(resolve: (value: number) => void) {
      query.starts++;
      return run(resolve);
    },
  };
  // Builders are typed as promises, though they only have `then`.
  return query as typeof query & Promise<number>;
}

Deno.test("observe() starts a lazy query once, within the span, and returns a promise", async () => {
  let open: RecordedSpan | undefined;
  const query = lazyQuery((resolve) => {
    open = openSpan();
    resolve(5);
    return "not a promise";
  });
  const root = await traced(async () => {
    const result = observe("query", "database", () => query);
    assert(result instanceof Promise);
    assertEquals(await result, 5);
    assertEquals(await result, 5);
  });
  assertEquals(query.starts, 1);
  assertStrictEquals(open, root.children[0]);
  assertEquals(open!.ended, 1);
});

Deno.test("observe() starts a lazy subclass of Promise once, within the span", async () => {
  const opened: (RecordedSpan | undefined)[] = [];
  class Query extends Promise<number> {
    override then<A, B>(
      resolve?: ((value: number) => A | PromiseLike<A>) | null,
      reject?: ((error: unknown) => B | PromiseLike<B>) | null,
    ): Promise<A | B> {
      opened.push(openSpan());
      return super.then(resolve, reject);
    }
  }
  const root = await traced(async () => {
    const query = new Query((resolve) => resolve(5));
    assertEquals(await observe("query", "database", () => query), 5);
  });
  assertEquals(opened.length, 1);
  assertStrictEquals(opened[0], root.children[0]);
});

Deno.test("observe() ends its span if a lazy query's then() throws", async () => {
  const error = new Error("no connection");
  const query = lazyQuery(() => {
    throw error;
  });
  const root = await traced(() =>
    assertRejects(
      () => Promise.resolve(observe("query", "database", () => query)),
      Error,
      "no connection",
    )
  );
  const [span] = root.children;
  assertEquals([span!.errors, span!.ended], [[error], 1]);
});

Deno.test("observe() keeps the request's context for code within the span", async () => {
  const context = new Context(new Request("http://localhost/"));
  const scope = new RequestScope(context, new RecordedSpan("root"));
  await runInScope(scope, () =>
    observe("x", "custom", async () => {
      await Promise.resolve();
      assertStrictEquals(currentScope()?.context, context);
    }));
});

Deno.test("A job can restart itself from within its span indefinitely", async () => {
  const done = Promise.withResolvers<string | undefined>();
  const run = (times: number) => {
    if (times === 0) return done.resolve(openSpan()?.name);
    observe("tick", "custom", () => {
      Promise.resolve(times - 1).then(run).catch(done.reject);
    });
  };
  const root = await traced(() => {
    run(50_000);
    return done.promise;
  });
  assertEquals(await done.promise, "root");
  assertEquals(root.children.length, 50_000, "each is a child of the root");
});

Deno.test("runSpan() opens a span that isn't a child of the open one", async () => {
  const other = new RecordedSpan("other");
  const root = await traced(() => {
    runSpan(other, (span) => {
      assertStrictEquals(span, other);
      observe("below", "custom", () => {});
    });
  });
  assertEquals(root.children, []);
  assertEquals(other.children.map(({ name }) => name), ["below"]);
  assertEquals(other.ended, 1);
});

Deno.test("enterScope() applies to the rest of a function and what it starts, not to its caller", async () => {
  const inner = new RequestScope(undefined, new RecordedSpan("inner"));
  await traced(async () => {
    const outer = currentScope();
    const started = runInScope(outer!, async () => {
      await Promise.resolve();
      enterScope(inner);
      await Promise.resolve();
      assertStrictEquals(currentScope(), inner);
    });
    await started;
    assertStrictEquals(currentScope(), outer);
  });
});
