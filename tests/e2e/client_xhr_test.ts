/** Tracing of `XMLHttpRequest`. */

import { assert, assertEquals } from "@std/assert";
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
const SEND = `const send = (method, url, { headers = {}, body } = {}) =>
  new Promise((resolve) => {
    const xhr = new XMLHttpRequest();
    const events = [];
    for (const type of ["load", "error"]) {
      xhr.addEventListener(type, () => events.push(type));
    }
    xhr.onloadend = () => resolve([events.join(), xhr.status, xhr.responseText]);
    xhr.open(method, url);
    for (const name in headers) xhr.setRequestHeader(name, headers[name]);
    xhr.send(body);
  });`;

type Outcome = [events: string, status: number, text: string];

function testPage(
  name: string,
  fn: (app: ClientApp, view: TestPage) => Promise<void>,
): void {
  Deno.test(`XMLHttpRequest in a browser: ${name}`, async () => {
    await using app = await startClientApp({
      routes: [{
        path: "/slow",
        handler: async () => {
          await new Promise((resolve) => setTimeout(resolve, 1500));
          return new Response("slow");
        },
      }, {
        path: "/hang",
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

/** Waits for the span of a request, which links to the server's request. */
async function linkedSpan(app: ClientApp, path: string, request: string) {
  const span = await sentSpan(app, `xmlhttprequest ${path}`);
  const { span: server } = await traceWith(app.tracer, request);
  const link = `00-${server.traceId}-${server.id}-01`;
  assertEquals(span.attributes["app.link"], link);
  assertEquals(span.parentId, (await sentSpan(app, "page:load")).id);
  return span;
}

testPage("a request links to the server's request", async (app, view) => {
  const [events, status, text] = await run<Outcome>(
    view,
    `${SEND} return send("post", "/echo?token=secret", { body: "text", headers: { "x-own": "1" } })`,
  );
  const { headers, body } = JSON.parse(text);
  assertEquals([events, status, body], ["load", 200, "text"]);
  assertEquals(headers["x-own"], "1");
  assertEquals(headers.traceparent, undefined);
  const span = await linkedSpan(app, "/echo", "POST /echo");
  assertEquals(span.status, "ok");
  assertEquals(span.attributes["http.response.status_code"], 200);
  assertEquals(JSON.stringify(app.sent).includes("secret"), false);
  assertEquals(view.errors, []);
});

testPage("a page's own traceparent stays", async (app, view) => {
  const [, , text] = await run<Outcome>(
    view,
    `${SEND} return send("GET", "/echo", { headers: { TraceParent: "${SPECIMEN}" } })`,
  );
  assertEquals(JSON.parse(text).headers.traceparent, SPECIMEN);
  const span = await sentSpan(app, "xmlhttprequest /echo");
  assertEquals(span.attributes["app.link"], undefined);
});

testPage("a failed status is an error", async (app, view) => {
  const [events, status] = await run<Outcome>(
    view,
    `${SEND} return send("GET", "/nothing")`,
  );
  assertEquals([events, status], ["load", 404]);
  const span = await linkedSpan(app, "/nothing", "GET /nothing");
  assertEquals([span.status, span.attributes["error.type"]], ["error", "404"]);
});

testPage("another origin's request has no link", async (app, view) => {
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
  assertEquals(span.attributes["app.link"], undefined);
});

testPage("a click lasts until its request has ended", async (app, view) => {
  await sentSpan(app, "page:load");
  await run(
    view,
    `document.body.innerHTML = "<button>Load</button>";
     document.querySelector("button").onclick = () => {
       const xhr = new XMLHttpRequest();
       xhr.open("GET", "/slow");
       xhr.send();
     };`,
  );
  await view.page.click("button");
  const click = await sentSpan(app, 'click button "Load"');
  const span = await sentSpan(app, "xmlhttprequest /slow");
  assertEquals([span.traceId, span.parentId], [click.traceId, click.id]);
  assert(click.endTime >= span.endTime);
});

testPage(
  "requests that time out or are aborted have no status",
  async (app, view) => {
    const events = await run<string[]>(
      view,
      `return Promise.all(["timeout", "abort"].map((type) =>
       new Promise((resolve) => {
         const xhr = new XMLHttpRequest();
         xhr.open("GET", "/hang?" + type);
         xhr.addEventListener(type, () => resolve(type));
         if (type === "timeout") xhr.timeout = 200;
         else setTimeout(() => xhr.abort(), 200);
         xhr.send();
       })
     ));`,
    );
    assertEquals(events, ["timeout", "abort"]);
    const page = await sentSpan(app, "page:load");
    const spans = app.sent.filter(({ name }) =>
      name === "xmlhttprequest /hang"
    );
    assertEquals(
      spans.map(({ attributes, parentId }) => [parentId, attributes]),
      [[page.id, {}], [page.id, {}]],
    );
    assertEquals(view.errors, []);
  },
);
