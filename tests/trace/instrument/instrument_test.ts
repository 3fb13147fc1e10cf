import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  createTracer,
  noopTracer,
  recordFormValidation,
  recordHydration,
  recordLoaderMetrics,
  recordRouteMatch,
  recordRPCValidation,
  recordSignalBatch,
  recordSignalUpdate,
  setTracer,
  type Span,
  type SpanData,
  traceAuthCheck,
  traceBuild,
  traceBuildStage,
  traceCacheOperation,
  traceError,
  traceFormSubmit,
  traceHydration,
  traceLoader,
  traceQuery,
  traceRouteMatch,
  traceRPCCall,
  withErrorCapture,
  withSpan,
} from "@quartet/kit/trace";
import { onlyTrace, rootOf, treeOf } from "../fakes.ts";

type Wrap = <T>(fn: (span: Span) => T) => T;

/** All functions that run work in a span, with the expected span. */
const WRAPPERS: [
  string,
  Wrap,
  Pick<SpanData, "name" | "layer" | "attributes">,
][] = [
  ["traceRouteMatch", (fn) => traceRouteMatch(fn), {
    name: "route.match",
    layer: "routing",
    attributes: {},
  }],
  ["traceLoader", (fn) => traceLoader("country", fn), {
    name: "loader:country",
    layer: "data",
    attributes: {},
  }],
  ["traceCacheOperation", (fn) => traceCacheOperation("get", "fr", fn), {
    name: "cache.get",
    layer: "data",
    attributes: { "app.cache.key": "fr" },
  }],
  ["traceFormSubmit", (fn) => traceFormSubmit("sign-up", fn), {
    name: "form:sign-up",
    layer: "forms",
    attributes: {},
  }],
  ["traceRPCCall", (fn) => traceRPCCall("posts.list", "query", fn), {
    name: "rpc:posts.list",
    layer: "rpc",
    attributes: {
      "rpc.system.name": "quartet",
      "rpc.method": "posts.list",
      "app.rpc.type": "query",
    },
  }],
  [
    "traceQuery",
    (fn) =>
      traceQuery("SELECT name FROM country", fn, {
        system: "sqlite",
        namespace: "main",
      }),
    {
      name: "db.query",
      layer: "database",
      attributes: {
        "db.query.text": "SELECT name FROM country",
        "db.query.summary": "SELECT country",
        "db.operation.name": "SELECT",
        "db.collection.name": "country",
        "db.system.name": "sqlite",
        "db.namespace": "main",
      },
    },
  ],
  ["traceAuthCheck", (fn) => traceAuthCheck("role:admin", fn), {
    name: "auth:role:admin",
    layer: "auth",
    attributes: {},
  }],
  ["traceHydration", (fn) => traceHydration("Cart", fn), {
    name: "hydrate:Cart",
    layer: "islands",
    attributes: { "app.island.component": "Cart" },
  }],
  ["traceBuildStage", (fn) => traceBuildStage("bundle", fn), {
    name: "build:bundle",
    layer: "build",
    attributes: {},
  }],
  ["traceBuild", (fn) => traceBuild("site", fn), {
    name: "build:site",
    layer: "build",
    attributes: {},
  }],
];

/** Returns the only span below the root after `run`. */
async function below(run: () => unknown): Promise<SpanData> {
  const tracer = createTracer();
  setTracer(tracer);
  try {
    await tracer.withSpan("root", "request", async () => {
      try {
        await run();
      } catch {
        // The test itself checks the error.
      }
    });
  } finally {
    setTracer(noopTracer);
  }
  const trace = onlyTrace(tracer);
  const { children } = rootOf(trace);
  assertEquals(children.length, 1);
  return trace.spans.get(children[0]!)!;
}

for (const [name, wrap, expected] of WRAPPERS) {
  Deno.test(`${name}() creates its span and returns the function's result`, async () => {
    const result = { any: "value" };
    for (const value of [result, Promise.resolve(result)]) {
      const span = await below(async () => {
        let inner: Span | undefined;
        const returned = wrap((span) => {
          inner = span;
          return value;
        });
        assertStrictEquals(await returned, result);
        assertStrictEquals(
          value instanceof Promise,
          (returned as unknown) instanceof Promise,
        );
        assertEquals(inner?.id.length, 16);
      });
      assertEquals({
        name: span.name,
        layer: span.layer,
        attributes: { ...span.attributes },
      }, expected);
      assertEquals(span.status, "ok");
    }
  });

  Deno.test(`${name}() records and rethrows the function's error, sync and async`, async () => {
    const error = new RangeError("no");
    const sync = await below(() => {
      const thrown = assertThrows(() =>
        wrap(() => {
          throw error;
        })
      );
      assertStrictEquals(thrown, error);
    });
    const async_ = await below(async () => {
      const rejected = await assertRejects(() =>
        wrap(() => Promise.reject(error))
      );
      assertStrictEquals(rejected, error);
    });
    for (const span of [sync, async_]) {
      assertEquals(span.status, "error");
      assertEquals(span.attributes["error.type"], "RangeError");
      assertEquals(span.events[0]?.attributes?.["exception.message"], "no");
    }
  });

  Deno.test(`${name}() outside a trace only calls its function`, async () => {
    const error = new Error("no");
    const used = (span: Span) => {
      span.setAttribute("a", 1);
      span.event("e");
      span.child("c", "custom").end();
      return 42;
    };
    assertEquals(wrap(used), 42);
    assertEquals(await wrap((span) => Promise.resolve(used(span))), 42);
    assertStrictEquals(
      assertThrows(() =>
        wrap(() => {
          throw error;
        })
      ),
      error,
    );
    assertStrictEquals(
      await assertRejects(() => wrap(() => Promise.reject(error))),
      error,
    );
  });
}

Deno.test("Spans created in a wrapped function are below its span", () => {
  const tracer = createTracer();
  tracer.withSpan(
    "root",
    "request",
    () =>
      traceLoader(
        "a",
        () =>
          traceCacheOperation(
            "get",
            "k",
            () => traceQuery("SELECT 1", () => []),
          ),
      ),
  );
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "root(loader:a(cache.get(db.query)))",
  );
});

Deno.test("recordRouteMatch() sets the route on the active span and on the request's", () => {
  const tracer = createTracer();
  tracer.withSpan("root", "request", () => {
    tracer.withSpan("around", "custom", () => {
      traceRouteMatch(() => recordRouteMatch("/countries/:code"));
    });
  });
  const trace = onlyTrace(tracer);
  assertEquals(
    [...trace.spans.values()].map((span) => span.attributes["http.route"]),
    ["/countries/:code", undefined, "/countries/:code"],
  );
  assertEquals(trace.metadata.routePattern, "/countries/:code");
});

Deno.test("recordLoaderMetrics() records only the given metrics", async () => {
  const span = await below(() =>
    traceLoader(
      "a",
      () => recordLoaderMetrics({ cache: "stale", items: 0, size: 12 }),
    )
  );
  assertEquals({ ...span.attributes }, {
    "app.loader.cache": "stale",
    "app.loader.items": 0,
    "app.loader.size": 12,
  });
  const none = await below(() =>
    traceLoader("a", () => recordLoaderMetrics({}))
  );
  assertEquals({ ...none.attributes }, {});
});

Deno.test("recordFormValidation() records the names of invalid fields, never values or messages", async () => {
  const span = await below(() =>
    traceFormSubmit("sign-up", () => {
      recordFormValidation({
        errors: { email: "ada@ is no address", age: "-1 is too small" },
      });
      recordFormValidation({});
      recordFormValidation({ errors: {} });
    })
  );
  assertEquals(
    span.events.map(({ name, attributes }) => [name, { ...attributes }]),
    [
      ["form.validation", {
        "app.form.valid": false,
        "app.form.invalid_fields": "email, age",
      }],
      ["form.validation", { "app.form.valid": true }],
      ["form.validation", { "app.form.valid": true }],
    ],
  );
});

Deno.test("recordSignalUpdate() and recordSignalBatch() create spans below the active one", async () => {
  const update = await below(() => recordSignalUpdate("cart.total", 2));
  assertEquals([update.name, update.layer], ["signal.update", "signals"]);
  assertEquals({ ...update.attributes }, {
    "app.signal.name": "cart.total",
    "app.signal.subscribers": 2,
  });
  const batch = await below(() => recordSignalBatch(["a", "b"]));
  assertEquals([batch.name, batch.layer], ["signal.batch", "signals"]);
  assertEquals({ ...batch.attributes }, {
    "app.signal.names": "a, b",
    "app.signal.count": 2,
  });
});

Deno.test("recordRPCValidation() and recordHydration() create events of the active span", async () => {
  const rpc = await below(() =>
    traceRPCCall("a.b", "mutation", () => {
      recordRPCValidation({ valid: false, duration: 1.5 });
      recordRPCValidation({ valid: true });
    })
  );
  assertEquals(
    rpc.events.map(({ name, attributes }) => [name, { ...attributes }]),
    [
      ["rpc.validation", {
        "app.rpc.valid": false,
        "app.rpc.validation_duration": 1.5,
      }],
      ["rpc.validation", { "app.rpc.valid": true }],
    ],
  );
  const island = await below(() =>
    traceHydration("Cart", () => {
      recordHydration("Cart", { strategy: "idle", propsSize: 120 });
      recordHydration("Cart");
    })
  );
  assertEquals(
    island.events.map(({ name, attributes }) => [name, { ...attributes }]),
    [
      ["hydration", {
        "app.island.component": "Cart",
        "app.island.strategy": "idle",
        "app.island.props_size": 120,
      }],
      ["hydration", { "app.island.component": "Cart" }],
    ],
  );
});

Deno.test("traceAuthCheck() records whether access was allowed, sync and async", async () => {
  for (
    const [result, expected] of [
      [true, true],
      [false, false],
      [Promise.resolve(true), true],
      [Promise.resolve(false), false],
      [{ user: "ada" }, undefined],
      [undefined, undefined],
    ] as const
  ) {
    const span = await below(() => traceAuthCheck("session", () => result));
    assertEquals(span.attributes["app.auth.allowed"], expected);
  }
});

Deno.test("traceQuery() counts the rows of each kind of result, sync and async", async () => {
  for (
    const [result, expected] of [
      [[1, 2, 3], 3],
      [[], 0],
      [Promise.resolve([1, 2]), 2],
      [{ rows: 1 }, undefined],
      [undefined, undefined],
      [null, undefined],
      // libSQL, PGlite and deno-postgres; D1.
      [{ rows: [1, 2, 3], columns: ["a"] }, 3],
      [{ success: true, results: [1] }, 1],
      // mysql2: rows or a header, and the columns.
      [[[1, 2, 3], [{ name: "a", columnType: 3 }]], 3],
      [[{ affectedRows: 1 }, undefined], undefined],
      // Two rows as arrays.
      [[["fr", "France"], ["de", "Germany"]], 2],
    ] as const
  ) {
    const span = await below(() => traceQuery("SELECT 1", () => result));
    assertEquals(span.attributes["db.response.returned_rows"], expected);
  }
});

Deno.test("A query's span has attributes from its text: operation, table, and whether it only reads", async () => {
  const cases: [string, string, string | undefined, boolean][] = [
    ["select 1", "SELECT", undefined, true],
    ["  \n\tSELECT * FROM country", "SELECT", "country", true],
    ["-- who asks\nSELECT * FROM a", "SELECT", "a", true],
    ["/* a */ /* b\n */ SELECT * FROM a", "SELECT", "a", true],
    ["--only a comment", "", undefined, false],
    ["(SELECT * FROM a) UNION (SELECT * FROM b)", "SELECT", "a", true],
    ['SELECT * FROM "country list"', "SELECT", "country list", true],
    ['SELECT * FROM "public"."country"', "SELECT", "public.country", true],
    ["SELECT * FROM 'country'", "SELECT", "country", true],
    ['SELECT * FROM "country"', "SELECT", "country", true],
    ["SELECT * FROM `country`", "SELECT", "country", true],
    ["SELECT * FROM [country]", "SELECT", "country", true],
    ["SELECT * FROM public.country", "SELECT", "public.country", true],
    ["INSERT INTO a (b) VALUES (1)", "INSERT", "a", false],
    ["update a set b = 1", "UPDATE", "a", false],
    ["DELETE FROM a", "DELETE", "a", false],
    ["CREATE TABLE IF NOT EXISTS a (b)", "CREATE", "a", false],
    ["DROP TABLE IF EXISTS a", "DROP", "a", false],
    ["WITH t AS (SELECT 1) SELECT * FROM t", "WITH", "t", true],
    [
      "WITH old AS (DELETE FROM a RETURNING *) SELECT * FROM old",
      "WITH",
      "a",
      false,
    ],
    ["WITH t AS (SELECT 1) INSERT INTO a SELECT * FROM t", "WITH", "a", false],
    ["WITH t AS (SELECT 1) UPDATE a SET b = 1", "WITH", "a", false],
    ["VALUES (1)", "VALUES", undefined, true],
    ["EXPLAIN SELECT * FROM a", "EXPLAIN", "a", true],
    ["PRAGMA foreign_keys = ON", "PRAGMA", undefined, true],
    ["BEGIN", "BEGIN", undefined, false],
    ["", "", undefined, false],
  ];
  for (const [text, operation, collection, reads] of cases) {
    const { name, attributes } = await below(() =>
      traceQuery(text, () => undefined)
    );
    assertEquals(name, reads ? "db.query" : "db.execute", text);
    assertEquals(attributes["db.operation.name"], operation, text);
    assertEquals(attributes["db.collection.name"], collection, text);
    assertEquals(attributes["db.query.text"], text);
  }
});

Deno.test("A long or malicious query text is parsed quickly", async () => {
  for (
    const text of [
      "SELECT ".repeat(200_000),
      "/*".repeat(200_000),
      " ".repeat(400_000),
      "(".repeat(400_000),
      "-- \n".repeat(100_000) + "SELECT 1",
      "WITH " + "update ".repeat(100_000),
    ]
  ) {
    const { attributes } = await below(() => traceQuery(text, () => 1));
    assertEquals(
      String(attributes["db.query.text"]).length < 4_200,
      true,
    );
  }
});

Deno.test("traceBuild() creates a trace of its own outside a trace", async () => {
  const tracer = createTracer();
  const result = await traceBuild("site", async () => {
    await traceBuildStage("bundle", () => Promise.resolve());
    traceBuildStage("minify", () => {});
    return "built";
  }, tracer);
  assertEquals(result, "built");
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "build:site(build:bundle, build:minify)",
  );
});

Deno.test("traceError() marks the active span as failed and records the error", async () => {
  const span = await below(() =>
    traceLoader("a", () => traceError(new TypeError("caught")))
  );
  assertEquals(span.status, "error");
  assertEquals(
    span.events[0]?.attributes?.["exception.message"],
    "caught",
  );
});

Deno.test("withErrorCapture() records the function's error on the active span, and rethrows it", async () => {
  const error = new Error("no");
  const fail = withErrorCapture((how: "sync" | "async") => {
    if (how === "sync") throw error;
    return Promise.reject(error);
  });
  const sync = await below(() =>
    traceLoader("a", () => {
      assertStrictEquals(assertThrows(() => fail("sync")), error);
    })
  );
  const async_ = await below(() =>
    traceLoader("a", async () => {
      assertStrictEquals(
        await assertRejects(async () => await fail("async")),
        error,
      );
    })
  );
  for (const span of [sync, async_]) {
    assertEquals(span.status, "error");
    assertEquals(span.events.length, 1);
  }
  assertStrictEquals(assertThrows(() => fail("sync")), error);
});

Deno.test("withErrorCapture() keeps this, arguments and results", async () => {
  const counter = {
    count: 1,
    add: withErrorCapture(function (this: { count: number }, by: number) {
      return this.count += by;
    }),
  };
  assertEquals(counter.add(2), 3);
  assertEquals(counter.count, 3);
  assertEquals(
    await withErrorCapture((a: number) => Promise.resolve(a))(7),
    7,
  );
});

Deno.test("withErrorCapture() treats a thrown Response as a response", async () => {
  const span = await below(() =>
    traceLoader("a", () => {
      try {
        withErrorCapture(() => {
          throw new Response(null, { status: 303 });
        })();
      } catch {
        // A host would send it.
      }
    })
  );
  assertEquals(span.status, "ok");
});

Deno.test("Functions that only record something do nothing outside a trace", () => {
  // None of them throws without a span.
  recordRouteMatch("/");
  recordLoaderMetrics({ items: 1 });
  recordFormValidation({ errors: { a: "b" } });
  recordSignalUpdate("a");
  recordSignalBatch(["a"]);
  recordRPCValidation({ valid: true });
  recordHydration("a");
  traceError(new Error("no"));
});

Deno.test("withSpan() without a function says so", () => {
  const forgetful = withSpan as unknown as (name: string, fn: unknown) => void;
  const { message } = assertThrows(
    () => forgetful("price", () => 1),
    TypeError,
  );
  assertEquals(
    message,
    "Cannot trace price: its work must be a function, received undefined",
  );
});
