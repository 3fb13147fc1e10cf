/** WebSockets of a page, and the subscriptions on them. */

import { assertEquals, assertLess } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import { createUpgrader } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import {
  createTracer,
  type SpanData,
  tracedAdapter,
  type TraceData,
} from "@quartet/kit/trace";
import { DatabaseSync } from "node:sqlite";
import { ROOT } from "../helpers.ts";
import { shareBrowser, type TestPage } from "./browser.ts";
import {
  bundle,
  type ClientApp,
  run,
  type SentSpan,
  sentSpan,
  startClientApp,
  until,
} from "./client_page.ts";

const browser = shareBrowser();

/** The kit's RPC client, as `window.rpc`. */
const RPC = `
  import { createClient } from "${new URL("rpc/client.ts", ROOT).pathname}";
  window.rpc = createClient({
    httpEndpoint: "/api/rpc?token=secret",
    reconnect: { delayMs: 100 },
  });
  /** Subscribes, and waits for the first value. */
  window.begin = (path, input) => new Promise((resolve, reject) => {
    rpc[path].subscribe(input, { onData: resolve, onError: reject });
  });
`;

/** Keeps the page's sockets, and the messages that they send. */
const KEEP = `
  globalThis.sockets = [];
  globalThis.sent = [];
  globalThis.WebSocket = class PageSocket extends WebSocket {
    constructor(...args) {
      super(...args);
      sockets.push(this);
    }
    send(data) {
      sent.push(data);
      super.send(data);
    }
  };
  globalThis.nativeSocket = WebSocket;
`;

/** The router of the page, with a database. */
function createAPI() {
  const database = tracedAdapter(new DatabaseSync(":memory:"), {
    system: "sqlite",
  });
  return createRouter({
    rows: procedure.subscription(async function* ({ signal }) {
      const ended = new Promise((resolve) =>
        signal.addEventListener("abort", resolve, { once: true })
      );
      yield database.prepare("SELECT 1 AS one").all();
      await ended;
    }),
    once: procedure.subscription(async function* () {
      yield await Promise.resolve("once");
    }),
  });
}

interface SocketApp extends ClientApp {
  /** The root spans of the server's records that have ended, in order. */
  readonly roots: readonly SpanData[];
  /** All messages that /echo has received. */
  readonly echoed: readonly (string | Uint8Array)[];
}

async function startSocketApp(): Promise<SocketApp> {
  const tracer = createTracer();
  const roots: SpanData[] = [];
  const echoed: (string | Uint8Array)[] = [];
  tracer.subscribe((event) => {
    if (event.type !== "trace:end") return;
    roots.push(event.trace.spans.get(event.trace.rootSpanId)!);
  }, ["trace:end"]);
  const rpc = rpcPlugin({ router: createAPI() });
  const echo = createUpgrader({
    message(ws, message) {
      echoed.push(message);
      ws.send(message as string);
    },
  });
  const routes: Route[] = [
    {
      path: "/api/rpc",
      handler: (request, context) => rpc.handle(request, context)!,
    },
    {
      path: "/echo-socket",
      handler(request) {
        echo.upgrade(request, { data: undefined });
        return echo.response(request)!;
      },
    },
    { path: "/refused", handler: () => new Response(null, { status: 403 }) },
  ];
  const app = await startClientApp({ tracer, routes });
  return {
    ...app,
    roots,
    echoed,
    async [Symbol.asyncDispose]() {
      await rpc.close!();
      await echo.close();
      await app[Symbol.asyncDispose]();
    },
  };
}

/** Registers a test with the page open and its load ended. */
function testSocket(
  name: string,
  fn: (app: SocketApp, view: TestPage) => Promise<void>,
): void {
  Deno.test(`A page's sockets: ${name}`, async () => {
    await using app = await startSocketApp();
    await using view = await browser.newPage();
    await view.page.addInitScript(KEEP);
    await view.page.goto(app.url);
    await view.page.addScriptTag({ content: await (client ??= bundle(RPC)) });
    await fn(app, view);
  });
}
let client: Promise<string> | undefined;

/** Waits for an ended record of the server. */
function rootOf(app: SocketApp, name: string, index = 0): Promise<SpanData> {
  return until(
    name,
    () => app.roots.filter((root) => root.name === name)[index],
  );
}

const traceparentOf = ({ traceId, id }: { traceId: string; id: string }) =>
  `00-${traceId}-${id}-01`;

testSocket(
  "a subscription continues the page's trace, and names its upgrade",
  async (app, view) => {
    await run(view, `await begin("rows", { room: "secret" })`);
    const span = await sentSpan(app, "websocket /api/rpc");
    const load = app.sent.find(({ name }) => name === "page:load")!;
    assertEquals([span.traceId, span.parentId], [load.traceId, load.id]);
    assertEquals([span.layer, span.status], ["request", "ok"]);
    assertEquals(span.attributes, {});
    await run(view, `sockets.find(({ url }) => url.includes("rpc")).close()`);
    const subscription = await rootOf(app, "rpc:rows");
    const upgrade = await rootOf(app, "GET /api/rpc");
    assertEquals(subscription.traceId, span.traceId);
    assertEquals(subscription.parentId, span.id);
    assertEquals(
      subscription.attributes["app.link.upgrade"],
      traceparentOf(upgrade),
    );
    assertEquals(
      await run<unknown>(view, `return sent.map((text) => JSON.parse(text))`),
      [{
        type: "subscribe",
        id: "1",
        traceparent: traceparentOf(span),
        path: ["rows"],
        input: { room: "secret" },
      }],
    );
    assertEquals(JSON.stringify(app.sent).includes("secret"), false);
    assertEquals(view.errors, []);
  },
);

testSocket(
  "page, socket, upgrade, subscription and its query are one trace",
  async (app, view) => {
    await run(view, `await begin("rows")`);
    const socket = await sentSpan(app, "websocket /api/rpc");
    const find = (name: string) => (trace: TraceData) =>
      trace.spans.values().find((span) => span.name === name);
    const trace = await until(
      "the joined trace",
      () =>
        app.tracer.getTraces().find((trace) =>
          ["page:load", "GET /api/rpc", "rpc:rows", "db.query"]
            .every((name) => find(name)(trace)) &&
          find("page:load")(trace)!.attributes["app.open"] === undefined
        ),
    );
    const parentOf = (name: string) =>
      trace.spans.get(find(name)(trace)!.parentId!)?.name;
    assertEquals(trace.spans.get(trace.rootSpanId)!.name, "page:load");
    assertEquals(parentOf("websocket /api/rpc"), "page:load");
    assertEquals(parentOf("GET /api/rpc"), "websocket /api/rpc");
    assertEquals(parentOf("rpc:rows"), "websocket /api/rpc");
    assertEquals(parentOf("db.query"), "rpc:rows");
    const running = find("rpc:rows")(trace)!;
    assertEquals(running.attributes["app.open"], true);
    assertEquals(
      find("GET /api/rpc")(trace)!.traceId === socket.traceId,
      false,
    );
    // The running subscription doesn't count. Aligned clocks agree within a microsecond.
    const load = trace.spans.get(trace.rootSpanId)!;
    assertLess(Math.abs(trace.endTime - load.endTime), 0.002);
    // Nothing is left over as a trace of its own.
    const names = app.tracer.getTraces().map(({ spans, rootSpanId }) =>
      spans.get(rootSpanId)!.name
    );
    assertEquals(names, ["page:load"]);
    const upgrade = find("GET /api/rpc")(trace)!;
    assertEquals(app.tracer.getTrace(upgrade.traceId)?.id, trace.id);
  },
);

testSocket(
  "a subscription of a later click belongs to that click",
  async (app, view) => {
    await run(
      view,
      `await begin("rows");
       const button = document.createElement("button");
       button.textContent = "More";
       button.onclick = () => begin("once");
       document.body.append(button);`,
    );
    await rootOf(app, "GET /api/rpc");
    await until("the idle page", () => {
      const load = app.sent.findLast(({ name }) => name === "page:load");
      return load !== undefined && load.attributes["app.open"] !== true;
    });
    await view.page.getByRole("button", { name: "More" }).click();
    const subscription = await rootOf(app, "rpc:once");
    const span = await sentSpan(app, "subscribe");
    const click = await until(
      "the click",
      () =>
        app.sent.find(({ attributes }) => attributes["app.action"] === "click"),
    );
    assertEquals([span.traceId, span.parentId], [click.traceId, click.id]);
    assertEquals(subscription.traceId, span.traceId);
    assertEquals(subscription.parentId, span.id);
    assertEquals(subscription.attributes["app.link.upgrade"], undefined);
  },
);

testSocket(
  "sockets after a break belong to the first one's trace, with the close codes",
  async (app, view) => {
    await run(view, `await begin("rows")`);
    const first = await sentSpan(app, "websocket /api/rpc");
    const spans = () =>
      app.sent.filter(({ name }) => name === "websocket /api/rpc");
    for (const code of [4001, 4002]) {
      const before = spans().length;
      await run(
        view,
        `sockets.findLast(({ url }) => url.includes("rpc")).close(${code})`,
      );
      await until("the next socket", () => spans().length > before);
    }
    const [, second, third] = spans();
    for (const next of [second!, third!]) {
      assertEquals(next.traceId, first.traceId);
      assertEquals(next.parentId, first.parentId);
      assertEquals(next.attributes["app.detached"], true);
    }
    const codes = (span: SentSpan) =>
      span.attributes["app.websocket.close_code"];
    assertEquals([codes(first), codes(second!), codes(third!)], [
      undefined,
      "4001",
      "4001 4002",
    ]);
    const subscription = await rootOf(app, "rpc:rows", 1);
    assertEquals(subscription.parentId, second!.id);
    assertEquals(subscription.attributes["app.websocket.close_code"], 4002);
    // With the three upgrades and subscriptions, it is all one trace.
    const [trace] = await until("one trace", () => {
      const traces = app.tracer.getTraces();
      const names = traces[0]!.spans.values().map(({ name }) => name).toArray();
      const count = (name: string) =>
        names.filter((other) => other === name).length;
      return traces.length === 1 && count("websocket /api/rpc") === 3 &&
        count("GET /api/rpc") === 3 && count("rpc:rows") === 3 && traces;
    });
    assertEquals(trace!.id, first.traceId);
  },
);

testSocket(
  "other protocols' messages and refused sockets work as without tracing",
  async (app, view) => {
    const messages = [
      '{"id":"1","type":"subscribe","payload":{"query":"subscription { a }"}}',
      '{"type":"subscribe","id":"1","payload":{}}',
      '{"type":"subscribe","id":"1"}',
      ' {"type":"subscribe","id":"1","path":["a"]}',
      "",
    ];
    const echoed = await run<unknown>(
      view,
      `const socket = new WebSocket("/echo-socket", []);
       const { promise, resolve } = Promise.withResolvers();
       const got = [];
       socket.binaryType = "arraybuffer";
       socket.onmessage = ({ data }) => {
         got.push(typeof data === "string" ? data : data.byteLength);
         if (got.length === ${messages.length + 3}) resolve(got);
       };
       await new Promise((open) => socket.onopen = open);
       for (const message of ${JSON.stringify(messages)}) socket.send(message);
       socket.send(new Uint8Array(3));
       socket.send(new ArrayBuffer(4));
       socket.send(new Blob(["12345"]));
       return await promise;`,
    );
    assertEquals(echoed, [...messages, 3, 4, 5]);
    const refused = await run<unknown>(
      view,
      `const socket = new WebSocket("/refused");
       return await new Promise((resolve) =>
         socket.onclose = ({ code }) => resolve([code, socket.readyState]));`,
    );
    assertEquals(refused, [1006, 3]);
    const span = await sentSpan(app, "websocket /refused");
    assertEquals(span.status, "error");
  },
);

testSocket("WebSocket keeps its shape", async (app, view) => {
  const shape = await run<unknown[]>(
    view,
    `class Own extends WebSocket {
       own() { return "own"; }
       send(data) { super.send(data + "!"); }
     }
     const own = new Own("/echo-socket");
     await new Promise((open) => own.onopen = open);
     const { promise, resolve } = Promise.withResolvers();
     own.onmessage = ({ data }) => resolve(data);
     own.send("text");
     let error;
     try { new WebSocket("/echo-socket", "not a token"); } catch (e) { error = e.name; }
     return [
       WebSocket !== nativeSocket, WebSocket.OPEN, own.OPEN, own.readyState,
       own instanceof Own, own instanceof WebSocket, own instanceof nativeSocket,
       own.own(), await promise, error,
     ];`,
  );
  assertEquals(shape, [
    true,
    1,
    1,
    1,
    true,
    true,
    true,
    "own",
    "text!",
    "SyntaxError",
  ]);
  const restored = await run<boolean>(
    view,
    `kit.getClientTracer().close();
     return WebSocket === nativeSocket;`,
  );
  assertEquals(restored, true);
  assertEquals(app.echoed, ["text!"]);
});
