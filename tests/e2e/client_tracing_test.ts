import {
  assert,
  assertEquals,
  assertFalse,
  assertGreater,
  assertLess,
  assertStrictEquals,
} from "@std/assert";
import { createTracer } from "@quartet/kit/trace";
import type { SpanData, TraceData } from "@quartet/kit/trace";
import { freePort } from "../helpers.ts";
import { shareBrowser, type TestPage } from "./browser.ts";
import {
  type ClientApp,
  run,
  sentSpan,
  startClientApp,
  traceWith,
  until,
} from "./client_page.ts";

/** Less than the clocks are shifted by, and more than a page takes to load. */
const MINUTE = 60_000;

/** Measures the round trips that align the page's clock. */
const MEASURE = `
  globalThis.slowest = 0;
  const native = globalThis.fetch;
  globalThis.fetch = async function fetch(...args) {
    const sentAt = performance.now();
    const response = await native(...args);
    if (String(args[0]).endsWith("/api")) {
      slowest = Math.max(slowest, performance.now() - sentAt);
    }
    return response;
  };
`;

const SPECIMEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const browser = shareBrowser();

interface PageOptions extends ClientAppOptions {
  readonly path?: string;
  /** A script that runs before the page's own. */
  readonly init?: string;
  /** Whether the test controls the page's timers. */
  readonly clock?: boolean;
}

type ClientAppOptions = NonNullable<Parameters<typeof startClientApp>[0]>;

/** Registers a test with the app's page open. */
function testPage(
  name: string,
  fn: (app: ClientApp, view: TestPage) => Promise<void>,
  options: PageOptions = {},
): void {
  Deno.test(`Tracing in a browser: ${name}`, async () => {
    await using app = await startClientApp(options);
    await using view = await browser.newPage();
    if (options.clock) await view.page.clock.install();
    await view.page.addInitScript(MEASURE);
    if (options.init) await view.page.addInitScript(options.init);
    await view.page.goto(app.url + (options.path ?? "/"));
    await fn(app, view);
  });
}

testPage(
  "fetch is the parent of the request that it causes",
  async (app, view) => {
    const text = await run<string>(
      view,
      `return (await fetch("/echo?token=secret", { method: "POST" })).json()
      .then((echo) => echo.headers.traceparent)`,
    );
    const span = await sentSpan(app, "fetch POST /echo");
    assertEquals(text, `00-${span.traceId}-${span.id}-01`);
    assertEquals(span.layer, "request");
    assertEquals(span.status, "ok");
    assertEquals(span.attributes, {
      "http.request.method": "POST",
      "url.path": "/echo",
      "http.response.status_code": 200,
    });
    const { span: request } = await traceWith(app.tracer, "POST /echo");
    assertEquals(request.parentId, span.id);
    assertEquals(request.traceId, span.traceId);
    await assertAround(view, span, request);
    assertQuiet(view);
  },
);

/** The browser's own socket throws. */
const FORBIDDEN_SOCKET = `
  globalThis.WebSocket = class {
    constructor() {
      throw new DOMException("forbidden", "SecurityError");
    }
  };`;

for (
  const [problem, init] of [
    ["without beacons", "delete Navigator.prototype.sendBeacon"],
    ["without performance observers", "delete globalThis.PerformanceObserver"],
    ["whose policy forbids sockets", FORBIDDEN_SOCKET],
  ] as const
) {
  testPage(
    `a page ${problem} sends its spans, and has no errors`,
    async (app, view) => {
      await run(
        view,
        `await fetch("/echo");
         await new Promise((resolve) => setTimeout(resolve, 200));
         Object.defineProperty(document, "hidden", { value: true });
         dispatchEvent(new Event("visibilitychange"));`,
      );
      await sentSpan(app, "fetch GET /echo");
      await sentSpan(app, "page:load");
      assertQuiet(view);
    },
    { init },
  );
}

testPage("a frame without a URL isn't traced", async (app, view) => {
  const [name, sum] = await run<unknown[]>(
    view,
    `const frame = document.createElement("iframe");
     frame.srcdoc = '<script src="/script.js"></' + "script>";
     document.body.append(frame);
     await new Promise((resolve) => frame.onload = resolve);
     const tracer = frame.contentWindow.kit.getClientTracer();
     return [
       frame.contentWindow.fetch.name,
       tracer.withSpan("own", "custom", () => 3),
     ];`,
  );
  assertEquals([name, sum], ["fetch", 3]);
  await sentSpan(app, "page:load");
  assertEquals(app.sent.filter(({ name }) => name === "own"), []);
  assertQuiet(view);
});

testPage(
  "fetches belong to the page load that is active",
  async (app, view) => {
    await run(
      view,
      `await Promise.all(["a", "b", "c"].map((x) => fetch("/echo?" + x)))`,
    );
    const page = await sentSpan(app, "page:load");
    const fetches = app.sent.filter(({ name }) => name === "fetch GET /echo");
    assertEquals(
      fetches.map(({ traceId, parentId }) => [traceId, parentId]),
      Array(3).fill([page.traceId, page.id]),
    );
  },
);

testPage(
  "a fetch without an active root has a trace of its own",
  async (app, view) => {
    await sentSpan(app, "page:load");
    await run(view, `await fetch("/echo?a"); await fetch("/echo?b")`);
    const fetches = await until("two fetches", () => {
      const found = app.sent.filter(({ name }) => name === "fetch GET /echo");
      return found.length === 2 && found;
    });
    const page = await sentSpan(app, "page:load");
    assertEquals(fetches.map(({ parentId }) => parentId), [null, null]);
    const ids = [page, ...fetches].map(({ traceId }) => traceId);
    assertEquals(new Set(ids).size, 3);
  },
);

testPage("a fetch with status 4xx or 5xx fails its span", async (app, view) => {
  await run(view, `await fetch("/nothing")`);
  const { span } = await traceWith(app.tracer, "fetch GET /nothing");
  assertEquals(span.status, "error");
  assertEquals(span.attributes["error.type"], "404");
  assertEquals(span.attributes["http.response.status_code"], 404);
});

const pageLoad = async (app: ClientApp, view: TestPage) => {
  await sentSpan(app, "page:load");
  const { trace, span } = await traceWith(app.tracer, "page:load");
  assertEquals(trace.rootSpanId, span.id);
  const root = named(trace, "GET /");
  assertEquals(root.parentId, span.id);
  const names = span.children.map((id) => trace.spans.get(id)!.name);
  for (const name of ["request", "dom", "script /script.js"]) {
    assert(names.includes(name), `${name} is among ${names}`);
  }
  const request = named(trace, "request");
  await assertAround(view, request, root);
  for (const span of trace.spans.values()) {
    assertLess(Math.abs(span.startTime - root.startTime), MINUTE, span.name);
    assertLess(Math.abs(span.endTime - root.startTime), MINUTE, span.name);
  }
  assertQuiet(view);
};
const shifted = (minutes: number) =>
  `{
  const { timeOrigin } = performance, { now } = Date, shift = ${minutes} * 60e3;
  Object.defineProperty(performance, "timeOrigin", { get: () => timeOrigin + shift });
  Date.now = () => now.call(Date) + shift;
}`;
testPage("the page's trace contains the page load", pageLoad);
testPage("a clock that is fast doesn't matter", pageLoad, {
  init: shifted(5),
});
testPage("a clock that is slow doesn't matter", pageLoad, {
  init: shifted(-5),
});
testPage(
  "a clock that is fast doesn't matter to the spans of a closing page",
  async (app, view) => {
    await run(view, `await fetch("/echo")`);
    await view.page.goto("about:blank");
    const { trace, span } = await traceWith(app.tracer, "fetch GET /echo");
    const root = trace.spans.get(trace.rootSpanId)!;
    assertLess(Math.abs(span.startTime - root.startTime), MINUTE);
  },
  { init: shifted(5) },
);

Deno.test("Tracing in a browser: the page can announce its trace in other ways", async () => {
  const tracer = createTracer();
  const parent = tracer.startTrace("elsewhere");
  parent.end();
  for (
    const head of [
      `<meta name="app-trace-id" content="${parent.traceId}">`,
      `<meta name="traceparent" content="00-${parent.traceId}-${parent.id}-01">`,
    ]
  ) {
    await using app = await startClientApp({ tracer, head });
    await using view = await browser.newPage();
    await view.page.goto(app.url);
    await run(view, `kit.getClientTracer().startSpan("mine").end()`);
    const { trace } = await traceWith(tracer, "mine");
    assertEquals(trace.id, parent.traceId);
  }
});

testPage("the page can record spans of its own", async (app, view) => {
  const thrown = await run<string>(
    view,
    `const tracer = kit.getClientTracer();
     const result = await tracer.withSpan("hydrate:List", "islands", async (span) => {
       span.setAttribute("items", 3);
       span.event("half", { way: true });
       const step = span.child("step");
       await new Promise((resolve) => setTimeout(resolve, 20));
       step.end();
       return 42;
     });
     if (result !== 42) throw new Error("wrong result");
     try {
       tracer.withSpan("fails", "custom", () => { throw new RangeError("too far"); });
     } catch (error) { return error.name; }`,
  );
  assertEquals(thrown, "RangeError");
  const { trace, span } = await traceWith(app.tracer, "hydrate:List");
  assertEquals(span.parentId, (await sentSpan(app, "page:load")).id);
  assertEquals(span.layer, "islands");
  assertEquals(span.attributes["items"], 3);
  assertEquals(
    span.events.map(({ name, attributes }) => [name, attributes]),
    [
      ["half", { way: true }],
    ],
  );
  assertGreater(span.duration, 15);
  const child = named(trace, "step");
  assertEquals([child.parentId, child.layer], [span.id, "custom"]);
  const failed = (await traceWith(app.tracer, "fails")).span;
  assertEquals(failed.status, "error");
  assertEquals(failed.attributes["error.type"], "RangeError");
  assertEquals(
    failed.events[0]?.attributes?.["exception.message"],
    "too far",
  );
});

testPage("fetch keeps the headers of requests", async (_app, view) => {
  const echo = await run<Record<string, Echo>>(
    view,
    `const get = async (...args) => (await fetch(...args)).json();
     const body = new FormData();
     body.set("name", "value");
     return {
       request: await get(new Request("/echo", { headers: { "x-own": "1" } })),
       posted: await get(new Request("/echo", { method: "PUT", body: "text", headers: { "x-own": "1" } })),
       both: await get(new Request("/echo", { headers: { "x-own": "1" } }), { headers: [["x-init", "2"]] }),
       init: await get(new URL("/echo", location.href), { headers: new Headers({ "x-init": "2" }) }),
       frozen: await get("/echo", Object.freeze({ method: "POST", body: "b", headers: Object.freeze({ "x-init": "2" }) })),
       copied: await get("/echo", new Request("/other", { method: "DELETE", headers: { "x-own": "1" } })),
       form: await get("/echo", { method: "POST", body }),
       own: await get("/echo", { headers: { TraceParent: "${SPECIMEN}" } }),
       ownRequest: await get(new Request("/echo", { headers: { traceparent: "${SPECIMEN}" }, method: "POST", body: "x" })),
     };`,
  );
  const { request, posted, both, init, frozen, copied, form } = echo;
  assertEquals(request!.headers["x-own"], "1");
  assertEquals(posted!.headers["x-own"], "1");
  assertEquals([posted!.method, posted!.body], ["PUT", "text"]);
  assertEquals([both!.headers["x-own"], both!.headers["x-init"]], [
    undefined,
    "2",
  ]);
  assertEquals(init!.headers["x-init"], "2");
  assertEquals([frozen!.headers["x-init"], frozen!.body], ["2", "b"]);
  assertEquals([copied!.headers["x-own"], copied!.method], ["1", "DELETE"]);
  assert(form!.body.includes('name="name"\r\n\r\nvalue'));
  for (const { headers } of [request!, posted!, both!, init!, form!]) {
    assert(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/.test(headers.traceparent!));
  }
  assertEquals(echo.own!.headers.traceparent, SPECIMEN);
  assertEquals(echo.ownRequest!.headers.traceparent, SPECIMEN);
  assertEquals(echo.ownRequest!.body, "x");
});

Deno.test("Tracing in a browser: fetch sends no trace context to other origins unless listed", async () => {
  const seen: Headers[] = [];
  await using other = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => {
      seen.push(new Headers(request.headers));
      return new Response("there", {
        headers: {
          "access-control-allow-origin": "*",
          "access-control-allow-headers": "traceparent, x-own",
        },
      });
    },
  );
  const origin = `http://127.0.0.1:${other.addr.port}`;
  await using app = await startClientApp();
  await using view = await browser.newPage();
  await view.page.goto(`${app.url}/?manual`);
  await run(
    view,
    `kit.initClientTracing();
     await fetch("${origin}/a");
     await fetch(new Request("${origin}/b", { headers: { "x-own": "1" } }));
     await fetch(new URL("${origin}/c"), { method: "POST", body: "x" });
     const frame = document.createElement("iframe");
     document.body.append(frame);
     await fetch(new frame.contentWindow.Request("${origin}/d"));
     await fetch("//127.0.0.1:${other.addr.port}/e");`,
  );
  assertEquals(seen.length, 6, "five requests and one preflight");
  for (const headers of seen) {
    assertFalse(headers.has("traceparent"));
    assertFalse(
      headers.get("access-control-request-headers")?.includes("traceparent"),
    );
  }
  await view.page.reload();
  await run(
    view,
    `kit.initClientTracing({ trustedOrigins: ["${origin}"] });
     await fetch("${origin}/told");`,
  );
  assert(seen.at(-1)!.has("traceparent"));
  assertQuiet(view);
});

testPage(
  "fetch returns and throws the same as the page's own fetch",
  async (_app, view) => {
    const [native, patched] = await run<unknown[]>(
      view,
      `const describe = (error) => String(error?.name) + ": " + String(error?.message ?? error);
     const attempt = async (...args) => {
       try {
         const response = await fetch(...args);
         return [response.url, response.type, response.redirected, response.status, await response.text()];
       } catch (error) { return describe(error); }
     };
     const all = async () => {
       const outcomes = [];
       outcomes.push(await attempt("http://"));
       outcomes.push(await attempt("/fixed", { method: "GET", body: "x" }));
       outcomes.push(await attempt("/fixed", { headers: { "bad name": "x" } }));
       outcomes.push(await attempt("/fixed", { method: "BAD METHOD" }));
       outcomes.push(await attempt());
       outcomes.push(await attempt("/fixed", 5));
       outcomes.push(await attempt("/redirect"));
       outcomes.push(await attempt("/redirect", { redirect: "error" }));
       outcomes.push((await attempt("/redirect", { redirect: "manual" })).slice(1));
       outcomes.push(await attempt("/fixed", { signal: AbortSignal.abort() }));
       outcomes.push(await attempt("/fixed", { signal: AbortSignal.abort("my reason") }));
       const controller = new AbortController();
       const hanging = attempt("/hang", { signal: controller.signal });
       setTimeout(() => controller.abort(new RangeError("mine")), 20);
       outcomes.push(await hanging);
       outcomes.push(await attempt("/hang", { signal: AbortSignal.timeout(20) }));
       const used = new Request("/fixed", { method: "POST", body: "x" });
       outcomes.push(await attempt(used), used.bodyUsed, await attempt(used));
       outcomes.push(await attempt("data:text/plain,hi"));
       outcomes.push(await attempt("http://127.0.0.1:1/"));
       const unhandled = new Promise((resolve) =>
         addEventListener("unhandledrejection", (event) => {
           event.preventDefault();
           resolve(describe(event.reason));
         }, { once: true }));
       fetch("/fixed", { signal: AbortSignal.abort("nobody cares") });
       outcomes.push(await unhandled);
       const { body } = await fetch("/stream");
       const reader = body.getReader();
       outcomes.push(new TextDecoder().decode((await reader.read()).value));
       await reader.cancel();
       return outcomes;
     };
     const patched = await all();
     window.fetch = nativeFetch;
     const native = await all();
     return [native, patched];`,
    );
    assertEquals(patched, native);
  },
  {
    routes: [
      { path: "/fixed", method: "*", handler: () => new Response("fixed") },
      {
        path: "/redirect",
        handler: () =>
          new Response(null, {
            status: 302,
            headers: { location: "/fixed" },
          }),
      },
      {
        path: "/hang",
        handler: (request) =>
          new Promise((resolve) =>
            request.signal.addEventListener(
              "abort",
              () => resolve(new Response()),
            )
          ),
      },
      {
        path: "/stream",
        handler: () =>
          new Response(
            new ReadableStream({
              start(controller) {
                controller.enqueue(new TextEncoder().encode("first"));
              },
            }),
          ),
      },
    ],
  },
);

testPage(
  "a response whose status is hidden isn't an abort",
  async (app, view) => {
    await run(view, `await fetch("/redirect", { redirect: "manual" })`);
    const span = await sentSpan(app, "fetch GET /redirect");
    assertEquals([span.status, span.events], ["ok", []]);
    assertEquals(span.attributes["http.response.status_code"], 0);
  },
  {
    routes: [{
      path: "/redirect",
      handler: () =>
        new Response(null, { status: 302, headers: { location: "/echo" } }),
    }],
  },
);

testPage(
  "an abort isn't an error, but a timeout is",
  async (app, view) => {
    await run(
      view,
      `window.controller = new AbortController();
       fetch("/given-up", controller).catch(() => {});
       const signal = AbortSignal.timeout(400);
       fetch("/too-slow", { signal }).catch(() => {});`,
    );
    await until(
      "the request",
      () => app.requests.some(({ url }) => url.endsWith("/given-up")),
    );
    // As on the server, whatever the reason is.
    await run(view, "controller.abort(new RangeError('mine'))");
    const given = await sentSpan(app, "fetch GET /given-up");
    assertEquals(given.status, "ok");
    assertEquals(given.events?.map(({ name }) => name), ["fetch.aborted"]);
    const slow = await sentSpan(app, "fetch GET /too-slow");
    assertEquals(slow.status, "error");
    assertEquals(slow.attributes["error.type"], "TimeoutError");
  },
  {
    routes: ["/given-up", "/too-slow"].map((path) => ({
      path,
      handler: (request) =>
        new Promise((resolve) =>
          request.signal.addEventListener(
            "abort",
            () => resolve(new Response()),
          )
        ),
    })),
  },
);

Deno.test("Tracing in a browser: a restarted server receives the spans recorded meanwhile", async () => {
  const tracer = createTracer();
  await using view = await browser.newPage();
  const port = freePort();
  {
    await using app = await startClientApp({ tracer, port });
    await view.page.goto(app.url);
    await traceWith(tracer, "page:load");
  }
  await run(
    view,
    `kit.getClientTracer().startSpan("while it was down").end()`,
  );
  await until(
    "an attempt to send",
    () => view.errors.some((text) => text.includes("REFUSED")),
  );
  await using _app = await startClientApp({ tracer, port });
  await traceWith(tracer, "while it was down");
  await run(view, `await fetch("/echo")`);
  await traceWith(tracer, "fetch GET /echo");
});

testPage(
  "a page stops sending to a server that doesn't trace",
  async (app, view) => {
    const echo = await run<Echo>(
      view,
      `kit.getClientTracer().startSpan("mine").end();
     const response = await fetch("/echo");
     await fetch("/echo", { signal: AbortSignal.abort() }).catch(() => {});
     return response.json();`,
    );
    assertEquals(echo.method, "GET");
    await view.page.clock.runFor(MINUTE);
    // The page sends its remaining spans, if any, before the last request.
    await view.page.goto("about:blank");
    await (await fetch(`${app.url}/echo`)).body?.cancel();
    assertQuiet(view);
    const paths = app.requests.map(({ url }) => new URL(url).pathname);
    assertEquals(paths, ["/", "/script.js", "/echo", "/echo"]);
  },
  { traced: false, clock: true },
);

testPage(
  "a page stops sending to a server that refuses its spans",
  async (app, view) => {
    await run(view, `await fetch("/echo")`);
    const attempts = () =>
      app.requests.filter(({ url }) => url.endsWith("/api")).length;
    await until("the refusal", () => view.errors.length === 1);
    for (let i = 0; i < 2; i++) {
      await view.page.clock.runFor(MINUTE);
      await run(view, `await fetch("/echo")`);
    }
    await view.page.goto("about:blank");
    assertEquals(attempts(), 1);
    assertEquals(view.errors.length, 1, view.errors.join("\n"));
  },
  { open: false, clock: true },
);

testPage(
  "a page waits twice as long after each failed attempt to send",
  async (_app, view) => {
    await view.page.clock.runFor(MINUTE);
    const times = await run<number[]>(view, "return attempts.slice(0, 6)");
    const pauses = times.slice(1).map((time, i) => time - times[i]!);
    assertEquals(pauses, [200, 400, 800, 1_600, 3_200]);
  },
  {
    clock: true,
    init: `
      const native = fetch;
      globalThis.attempts = [];
      globalThis.fetch = async (...args) => {
        if (!String(args[0]).endsWith("/api")) return native(...args);
        attempts.push(Date.now());
        throw new TypeError("down");
      };`,
  },
);

testPage("a closing page sends its remaining spans", async (app, view) => {
  await sentSpan(app, "page:load");
  const posts = () => app.requests.filter(({ url }) => url.endsWith("/api"));
  const before = posts().length;
  await run(
    view,
    `await fetch("/echo");
     kit.getClientTracer().startSpan("last words").end();
     // Navigates from inside: page.goto() would let the page send earlier.
     setTimeout(() => location.assign("about:blank"));`,
  );
  await view.page.waitForURL("about:blank");
  await sentSpan(app, "last words");
  await sentSpan(app, "fetch GET /echo");
  assertEquals(posts().length - before, 2, "one for each trace");
});

testPage("a page sends its spans without a socket", async (app, view) => {
  await run(view, `for (let i = 0; i < 3; i++) await fetch("/echo")`);
  await sentSpan(app, "page:load");
  const paths = new Set(app.requests.map(({ url }) => new URL(url).pathname));
  const own = [...paths].filter((path) => path.startsWith("/__app/"));
  assertEquals(own, ["/__app/traces/api"]);
});

testPage("the server bounds what a span may have", async (app, view) => {
  await run(
    view,
    `const span = kit.getClientTracer().startSpan("full");
     for (let i = 0; i < 70; i++) span.setAttribute("key " + i, "first");
     for (const i of [0, 63, 64]) span.setAttribute("key " + i, "last");
     span.event("e".repeat(1000));
     span.end();
     const long = kit.getClientTracer().startSpan("long");
     long.setAttribute("k".repeat(1000), 1);
     long.end();`,
  );
  const { span: { attributes, events } } = await traceWith(app.tracer, "full");
  const values = [0, 1, 63, 64].map((i) => attributes[`key ${i}`]);
  assertEquals(values, ["last", "first", "last", undefined]);
  assertEquals(events[0]!.name, `${"e".repeat(256)}… (744 more characters)`);
  const { span: long } = await traceWith(app.tracer, "long");
  assertEquals(long.attributes[`${"k".repeat(128)}… (872 more characters)`], 1);
});

testPage(
  "the client buffers a limited number of spans that fit into a request",
  async (app, view) => {
    await traceWith(app.tracer, "page:load");
    const dropped = await run<number>(
      view,
      `const tracer = kit.getClientTracer();
     const record = (from, to) => {
       for (let i = from; i < to; i++) tracer.startSpan("span " + i).end();
     };
     record(0, 400);
     const big = tracer.startSpan("x".repeat(1e6));
     for (let i = 0; i < 1e3; i++) big.setAttribute("key " + i, "y".repeat(1e5));
     for (let i = 0; i < 1e3; i++) big.event("event " + i);
     big.end();
     record(400, 700);
     return tracer.dropped;`,
    );
    assertEquals(dropped, 201);
    // They come in several requests.
    await traceWith(app.tracer, "span 250");
    const { trace } = await traceWith(app.tracer, "span 699");
    const names = new Set(trace.spans.values().map(({ name }) => name));
    assertFalse(names.has("span 150"));
  },
  { tracer: createTracer({ maxSpansPerTrace: 2_000 }) },
);

testPage(
  "initClientTracing() returns the same tracer when called twice",
  async (_app, view) => {
    const same = await run<boolean[]>(
      view,
      `const patched = fetch;
     const first = kit.getClientTracer();
     const second = kit.initClientTracing({ endpoint: "/other" });
     return [first === second, patched === fetch, patched !== nativeFetch];`,
    );
    assertEquals(same, [true, true, true]);
  },
);

testPage("close() restores the page's fetch", async (app, view) => {
  await traceWith(app.tracer, "page:load");
  const restored = await run<boolean>(
    view,
    `const tracer = kit.getClientTracer();
     tracer.startSpan("before").end();
     tracer.close();
     return fetch === nativeFetch;`,
  );
  assertStrictEquals(restored, true);
  await traceWith(app.tracer, "before");
  const echo = await run<Echo>(view, `return (await fetch("/echo")).json()`);
  assertStrictEquals(echo.headers.traceparent, undefined);
});

/**
 * Counts the attempts to send spans. Once `attempts` is a number, they fail. Until
 * then, `isSending` is true while one is under way.
 */
const COUNT_ATTEMPTS = `
  const native = fetch;
  globalThis.attempts = undefined;
  globalThis.isSending = false;
  globalThis.fetch = async (...args) => {
    if (!String(args[0]).endsWith("/api")) return native(...args);
    if (attempts !== undefined) {
      attempts++;
      throw new TypeError("down");
    }
    isSending = true;
    const response = await native(...args);
    const body = response.json();
    response.json = async () => {
      await body;
      isSending = false;
      return body;
    };
    return response;
  };`;

/**
 * Hides the page while 40 traces wait, or ends its tracing. Returns the number of
 * attempts to send them.
 */
async function attemptsAfter(
  app: ClientApp,
  view: TestPage,
  code: string,
): Promise<number> {
  await sentSpan(app, "page:load");
  // An answer that comes later would end the pause after the failures.
  await view.page.waitForFunction("!isSending");
  await run(
    view,
    `attempts = 0;
     const tracer = kit.getClientTracer();
     for (let i = 0; i < 40; i++) tracer.startSpan("waiting").end();
     Object.defineProperty(document, "hidden", { value: true });
     ${code};`,
  );
  await view.page.clock.runFor(1_000);
  return await run<number>(view, "return attempts");
}

const failing: PageOptions = { clock: true, init: COUNT_ATTEMPTS };

testPage("many failures don't make a page send faster", async (app, view) => {
  const hide = `dispatchEvent(new Event("visibilitychange"))`;
  const attempts = await attemptsAfter(app, view, hide);
  assertEquals(attempts, 41, "one for each trace, and a retry");
}, failing);

testPage("close() sends once, also without an answer", async (app, view) => {
  assertEquals(await attemptsAfter(app, view, "tracer.close()"), 40);
}, failing);

interface Echo {
  method: string;
  headers: Record<string, string | undefined>;
  body: string;
}

function named(trace: TraceData, name: string): SpanData {
  return trace.spans.values().find((span) => span.name === name)!;
}

/** Checks that clocks are aligned to half of a round trip. */
async function assertAround(
  { page }: TestPage,
  outer: Pick<SpanData, "startTime" | "endTime">,
  inner: Pick<SpanData, "startTime" | "endTime">,
): Promise<void> {
  const slack = 5 + await page.evaluate<number>("slowest") / 2;
  assertLess(outer.startTime, inner.startTime + slack);
  assertGreater(outer.endTime, inner.startTime - slack);
  // The server's span ends after its response has been sent.
  assertLess(inner.endTime, outer.endTime + MINUTE);
}

function assertQuiet({ errors, foreignRequests }: TestPage): void {
  assertEquals(errors, []);
  assertEquals(foreignRequests, []);
}
