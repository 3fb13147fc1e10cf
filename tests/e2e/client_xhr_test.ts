/** Tracing of `XMLHttpRequest`. */

import { assertEquals, assertMatch } from "@std/assert";
import { shareBrowser, type TestPage } from "./browser.ts";
import {
  type ClientApp,
  run,
  sentSpan,
  startClientApp,
  traceWith,
} from "./client_page.ts";

const SPECIMEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const browser = shareBrowser();

/** Sends a request, and returns its events and what it has received. */
const SEND =
  `const send = (method, url, { headers = {}, body, prepare } = {}) =>
  new Promise((resolve) => {
    const xhr = new XMLHttpRequest();
    const events = [];
    for (const type of ["load", "error", "abort", "timeout"]) {
      xhr.addEventListener(type, () => events.push(type));
    }
    xhr.onloadend = () => resolve([events.join(), xhr.status, xhr.responseText]);
    xhr.open(method, url);
    for (const name in headers) xhr.setRequestHeader(name, headers[name]);
    prepare?.(xhr);
    xhr.send(body);
    if (prepare?.name === "abort") setTimeout(() => xhr.abort(), 300);
  });`;

type Outcome = [events: string, status: number, text: string];

function testPage(
  name: string,
  fn: (app: ClientApp, view: TestPage) => Promise<void>,
): void {
  Deno.test(`XMLHttpRequest in a browser: ${name}`, async () => {
    await using app = await startClientApp({
      routes: [{
        path: "/hang",
        method: "*",
        handler: ({ signal }) =>
          new Promise((resolve) =>
            signal.addEventListener("abort", () => resolve(new Response()))
          ),
      }],
    });
    await using view = await browser.newPage();
    await view.page.goto(app.url);
    await fn(app, view);
  });
}

testPage("a request carries traceparent", async (app, view) => {
  const [events, status, text] = await run<Outcome>(
    view,
    `${SEND} return send("post", "/echo?token=secret", { body: "text", headers: { "x-own": "1" } })`,
  );
  const { headers, body } = JSON.parse(text);
  assertEquals([events, status, body], ["load", 200, "text"]);
  const span = await sentSpan(app, "xhr POST /echo");
  assertEquals(headers["x-own"], "1");
  assertEquals(headers.traceparent, `00-${span.traceId}-${span.id}-01`);
  assertEquals(span.attributes, {
    "http.request.method": "POST",
    "url.path": "/echo",
    "http.response.status_code": 200,
  });
  assertEquals(span.parentId, (await sentSpan(app, "page:load")).id);
  const { span: request } = await traceWith(app.tracer, "POST /echo");
  assertEquals([request.traceId, request.parentId], [span.traceId, span.id]);
  assertEquals(view.errors, []);
});

testPage("a page's own traceparent stays", async (app, view) => {
  const [, , text] = await run<Outcome>(
    view,
    `${SEND} return send("GET", "/echo", { headers: { TraceParent: "${SPECIMEN}" } })`,
  );
  assertEquals(JSON.parse(text).headers.traceparent, SPECIMEN);
  await sentSpan(app, "page:load");
  assertEquals(app.sent.filter(({ name }) => name.startsWith("xhr")), []);
});

testPage(
  "a failed status, an error and a timeout are errors, and an abort isn't",
  async (app, view) => {
    const outcomes = await run<Outcome[]>(
      view,
      `${SEND}
     return Promise.all([
       send("GET", "/nothing"),
       send("GET", "/hang?1", { prepare: function timeout(xhr) { xhr.timeout = 300 } }),
       send("PUT", "/hang?2", { prepare: function abort() {} }),
     ]);`,
    );
    assertEquals(outcomes.map(([events, status]) => [events, status]), [
      ["load", 404],
      ["timeout", 0],
      ["abort", 0],
    ]);
    const missing = await sentSpan(app, "xhr GET /nothing");
    assertEquals([missing.status, missing.attributes["error.type"]], [
      "error",
      "404",
    ]);
    const late = await sentSpan(app, "xhr GET /hang");
    assertEquals([late.status, late.attributes["error.type"]], [
      "error",
      "TimeoutError",
    ]);
    const aborted = await sentSpan(app, "xhr PUT /hang");
    assertEquals(aborted.status, "ok");
    assertEquals(aborted.events?.map(({ name }) => name), ["fetch.aborted"]);
  },
);

testPage("an object may be used again", async (app, view) => {
  const texts = await run<string[]>(
    view,
    `const xhr = new XMLHttpRequest();
     const texts = [];
     for (const method of ["PUT", "DELETE"]) {
       xhr.open(method, "/echo");
       const loaded = new Promise((resolve) => xhr.onload = resolve);
       xhr.send();
       await loaded;
       texts.push(xhr.responseText);
     }
     xhr.open("PATCH", "/echo", false);
     xhr.send();
     return [...texts, xhr.responseText];`,
  );
  const ids: string[] = [];
  for (const [index, method] of ["PUT", "DELETE", "PATCH"].entries()) {
    const span = await sentSpan(app, `xhr ${method} /echo`);
    const { traceparent } = JSON.parse(texts[index]!).headers;
    assertEquals(traceparent, `00-${span.traceId}-${span.id}-01`);
    ids.push(span.id);
  }
  assertEquals(new Set(ids).size, 3);
});

testPage(
  "other origins get no traceparent, and close() restores the page's own",
  async (app, view) => {
    const seen: Headers[] = [];
    await using other = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      ({ headers }) => {
        seen.push(headers);
        return new Response("there", {
          headers: { "access-control-allow-origin": "*" },
        });
      },
    );
    const url = `http://127.0.0.1:${other.addr.port}/`;
    const [events] = await run<Outcome>(
      view,
      `${SEND} return send("GET", "${url}")`,
    );
    assertEquals(events, "load");
    assertEquals(seen.map((headers) => headers.has("traceparent")), [false]);
    const page = await sentSpan(app, "page:load");
    const span = await sentSpan(app, `xmlhttprequest ${url}`);
    assertEquals(span.parentId, page.id);
    const isNative = await run<string>(
      view,
      `kit.getClientTracer().close(); return String(XMLHttpRequest)`,
    );
    assertMatch(isNative, /native code/);
  },
);
