/** Requests of a page without `traceparent`, and their server's traces. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import { shareBrowser, type TestPage } from "./browser.ts";
import {
  type ClientApp,
  run,
  type SentSpan,
  sentSpan,
  startClientApp,
  traceWith,
  until,
} from "./client_page.ts";

const browser = shareBrowser();

/** A transparent image of one pixel. */
const PIXEL = Uint8Array.from(
  atob("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
  (character) => character.charCodeAt(0),
);

function file(path: string, type: string, body: BodyInit = "", headers = {}) {
  return {
    path,
    handler: () =>
      new Response(body, { headers: { "content-type": type, ...headers } }),
  };
}

const image = (path: string, headers: Record<string, string> = {}) =>
  file(path, "image/gif", PIXEL, headers);

/** Registers a test with the app's page open. Its load hasn't ended. */
function testPage(
  name: string,
  fn: (app: ClientApp, view: TestPage) => Promise<void>,
  options: {
    readonly routes?: readonly Route[];
    readonly head?: string;
    readonly path?: string;
  } = {},
): void {
  Deno.test(`Resources of a browser: ${name}`, async () => {
    await using app = await startClientApp(options);
    await using view = await browser.newPage();
    await view.page.goto(app.url + (options.path ?? "/"));
    await fn(app, view);
  });
}

/** Checks that a span links to the server's request, and returns the span. */
async function assertLinked(
  app: ClientApp,
  name: string,
  request: string,
): Promise<SentSpan> {
  const span = await sentSpan(app, name);
  const { span: server } = await traceWith(app.tracer, request);
  const link = span.attributes["app.link"];
  assertEquals(link, `00-${server.traceId}-${server.id}-01`, name);
  return span;
}

testPage("each resource links to its server's request", async (app, view) => {
  const page = await sentSpan(app, "page:load");
  for (
    const [name, request] of [
      ["script /script.js", "GET /script.js"],
      ["link /style.css", "GET /style.css"],
      ["css /font.woff2", "GET /font.woff2"],
      ["img /image.gif", "GET /image.gif"],
      ["img /missing.png", "GET /missing.png"],
    ] as const
  ) {
    const span = await assertLinked(app, name, request);
    assertEquals(span.parentId, page.id, name);
    assertEquals(span.traceId, page.traceId, name);
  }
  const missing = await sentSpan(app, "img /missing.png");
  assertEquals(missing.status, "error");
  assert(view.errors.every((text) => text.includes("404")), `${view.errors}`);
}, {
  head: `<link rel="stylesheet" href="/style.css?token=secret">
    <script>addEventListener("load", () => document.body.insertAdjacentHTML("beforeend",
      '<p style="font-family: own">text</p><img src="/image.gif#part"><img src="/missing.png">'))</script>`,
  routes: [
    file(
      "/style.css",
      "text/css",
      `@font-face { font-family: own; src: url("/font.woff2"); }`,
    ),
    file("/font.woff2", "font/woff2"),
    image("/image.gif"),
    {
      path: "/missing.png",
      handler: () => Response.json({ error: "none" }, { status: 404 }),
    },
  ],
});

testPage(
  "an image that loads late belongs to the root that is active",
  async (app, view) => {
    await run(
      view,
      `addEventListener("click", () => setTimeout(() => { new Image().src = "/late.gif" }, 100))`,
    );
    await sentSpan(app, "page:load");
    await view.page.click("body");
    const span = await assertLinked(app, "img /late.gif", "GET /late.gif");
    const root = await sentSpan(app, "click body");
    assertEquals(span.parentId, root.id);
    // No root is active a second later.
    await run(view, `new Image().src = "/alone.gif"`);
    const alone = await assertLinked(app, "img /alone.gif", "GET /alone.gif");
    const { span: server } = await traceWith(app.tracer, "GET /alone.gif");
    assertEquals([alone.parentId, alone.traceId], [null, server.traceId]);
  },
  { routes: [image("/late.gif"), image("/alone.gif")] },
);

testPage(
  "a slow image belongs to the root that began it",
  async (app, view) => {
    await run(view, `new Image().src = "/slow.gif"`);
    const page = await sentSpan(app, "page:load");
    const span = await assertLinked(app, "img /slow.gif", "GET /slow.gif");
    assertEquals(span.parentId, page.id);
  },
  {
    routes: [{
      path: "/slow.gif",
      handler: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1800));
        return new Response(PIXEL, {
          headers: { "content-type": "image/gif" },
        });
      },
    }],
  },
);

testPage("beacons link to the server's requests", async (app, view) => {
  await run(
    view,
    `navigator.sendBeacon("/beacon", "text");
     navigator.sendBeacon("/json", new Blob(["{}"], { type: "application/json" }));`,
  );
  const page = await sentSpan(app, "page:load");
  const beacon = await assertLinked(app, "beacon /beacon", "POST /beacon");
  const json = await assertLinked(app, "beacon /json", "POST /json");
  assertEquals([beacon.parentId, json.parentId], [page.id, page.id]);
  await view.page.reload();
  await until(
    "the spans of another page load",
    () => app.sent.filter(({ name }) => name === "page:load").length >= 3,
  );
  assertFalse(
    app.sent.some(({ name }) => name.includes("__app")),
    "the client's own beacons aren't recorded",
  );
}, {
  routes: [
    {
      path: "/beacon",
      method: "POST",
      handler: () => new Response(null, { status: 204 }),
    },
    {
      path: "/json",
      method: "POST",
      handler: () => Response.json({ ok: true }),
    },
  ],
});

testPage("an event stream links to the server's request", async (app, view) => {
  await run(
    view,
    `const source = new EventSource("/events");
     await new Promise((resolve) => source.onmessage = resolve);
     source.close();`,
  );
  await assertLinked(app, "other /events", "GET /events");
}, {
  routes: [{
    path: "/events",
    handler: () =>
      new Response("data: 1\n\n", {
        headers: { "content-type": "text/event-stream" },
      }),
  }],
});

const CACHED = "private, max-age=600";

testPage(
  "a resource from the cache is ignored, a validated one isn't",
  async (app, view) => {
    const loads = () =>
      app.sent.filter(({ name, attributes }) =>
        name === "page:load" && !attributes["app.open"]
      );
    await sentSpan(app, "page:load");
    // The browser stores an image some time after it has shown it.
    await view.page.waitForFunction(async () => {
      const init = { cache: "only-if-cached", mode: "same-origin" } as const;
      return (await fetch("/cached.gif", init).catch(() => null))?.ok;
    });
    await view.page.goto(`${app.url}/?again`);
    const second = await until("the second page load", () => loads()[1]);
    const names = app.sent.filter(({ parentId }) => parentId === second.id)
      .map(({ name }) => name);
    assertFalse(names.includes("img /cached.gif"), `${names}`);
    assert(names.includes("img /validated.gif"), `${names}`);
    const validated = app.sent.findLast(({ name }) =>
      name === "img /validated.gif"
    )!;
    const requests = app.tracer.getTraces().flatMap(({ spans }) =>
      [...spans.values()].filter(({ name }) => name === "GET /validated.gif")
    );
    const last = requests.find(({ attributes }) =>
      attributes["http.response.status_code"] === 304
    )!;
    assertEquals(
      validated.attributes["app.link"],
      `00-${last.traceId}-${last.id}-01`,
    );
  },
  {
    head: `<img src="/cached.gif"><img src="/validated.gif">`,
    routes: [
      image("/cached.gif", { "cache-control": CACHED }),
      {
        path: "/validated.gif",
        handler: ({ headers }) =>
          headers.has("if-none-match")
            ? new Response(null, { status: 304, headers: { etag: '"1"' } })
            : new Response(PIXEL, {
              headers: {
                "content-type": "image/gif",
                "cache-control": "private, no-cache",
                etag: '"1"',
              },
            }),
      },
    ],
  },
);

testPage(
  "a document from the cache doesn't join its first trace",
  async (app, view) => {
    const first = await sentSpan(app, "page:load");
    await view.page.goto("about:blank");
    await view.page.goBack();
    await run(view, `await fetch("/echo")`);
    const request = await until(
      "the fetch",
      () => app.sent.findLast(({ name }) => name === "fetch GET /echo"),
    );
    assert(request.traceId !== first.traceId);
    const documents = app.requests.filter(({ url }) => url.endsWith("/page"));
    assertEquals(documents.length, 1);
  },
  {
    path: "/page",
    routes: [file(
      "/page",
      "text/html",
      `<!DOCTYPE html><link rel="icon" href="data:,"><script src="/script.js"></script>
       <script>addEventListener("unload", () => {})</script>`,
      { "cache-control": CACHED },
    )],
  },
);

testPage("a redirected document is a part of the page load", async (app) => {
  const page = await sentSpan(app, "page:load");
  const { span } = await traceWith(app.tracer, "GET /");
  assertEquals(
    page.attributes["app.link"],
    `00-${span.traceId}-${span.id}-01`,
  );
  const redirect = await sentSpan(app, "redirect");
  assertEquals(redirect.parentId, page.id);
}, {
  path: "/old",
  routes: [{
    path: "/old",
    handler: () =>
      new Response(null, { status: 302, headers: { location: "/" } }),
  }],
});

testPage(
  "a frame's page load is below its document's request",
  async (app, view) => {
    await run(
      view,
      `const frame = document.createElement("iframe");
       frame.src = "/frame";
       document.body.append(frame);`,
    );
    const frame = await until(
      "the frame's page load",
      () =>
        app.sent.find(({ name, attributes }) =>
          name === "page:load" && attributes["url.path"] === "/frame"
        ),
    );
    const page = await until(
      "the page load",
      () =>
        app.sent.find(({ name, attributes }) =>
          name === "page:load" && attributes["url.path"] === "/"
        ),
    );
    const document = await assertLinked(app, "iframe /frame", "GET /frame");
    const { span: server } = await traceWith(app.tracer, "GET /frame");
    assertEquals(document.parentId, page.id);
    assertEquals([frame.traceId, frame.parentId], [server.traceId, server.id]);
    assertEquals(frame.attributes["app.link"], undefined);
  },
  {
    routes: [file(
      "/frame",
      "text/html",
      `<!DOCTYPE html><script src="/script.js"></script>`,
    )],
  },
);

testPage("a root may have many resources", async (app, view) => {
  await run(
    view,
    `for (let i = 0; i < 420; i++) new Image().src = "/many.gif?" + i;
     await new Promise((resolve) => setTimeout(resolve, 100));`,
  );
  await sentSpan(app, "page:load");
  const many = app.sent.filter(({ name }) => name === "img /many.gif");
  const others = app.sent.filter(({ name }) => name === "script /script.js");
  assertEquals(many.length + others.length, 421);
  const dropped = await run<number>(
    view,
    "return kit.getClientTracer().dropped",
  );
  assertEquals(dropped, 0);
}, { routes: [image("/many.gif", { "cache-control": "no-store" })] });

testPage("a strict policy blocks nothing", async (app, view) => {
  await run(view, `await fetch("/echo")`);
  await sentSpan(app, "page:load");
  await sentSpan(app, "fetch GET /echo");
  assertEquals(view.errors, []);
}, {
  path: "/strict",
  routes: [file(
    "/strict",
    "text/html",
    `<!DOCTYPE html><link rel="icon" href="data:,"><script src="/script.js"></script>`,
    {
      "content-security-policy":
        "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; require-trusted-types-for 'script'",
    },
  )],
});

testPage(
  "below a service worker, resources join the page, except from its cache",
  async (app, view) => {
    await run(
      view,
      `await navigator.serviceWorker.register("/worker.js");
       await navigator.serviceWorker.ready;`,
    );
    // Older than any error of the clock.
    const { span: kept } = await traceWith(app.tracer, "GET /kept.gif");
    await until("an old image", () => Date.now() > kept.endTime + 2_000);
    await view.page.goto(`${app.url}/?again`);
    await run(
      view,
      `for (const path of ["/kept.gif", "/new.gif"]) {
         const image = new Image();
         image.src = path;
         await image.decode();
       }`,
    );
    await assertLinked(app, "img /new.gif", "GET /new.gif");
    const { trace } = await traceWith(app.tracer, "GET /new.gif");
    const page = trace.spans.get(trace.rootSpanId)!;
    assertEquals(page.name, "page:load");
    const below = page.children.map((id) => trace.spans.get(id)!.name);
    assert(below.includes("script /script.js"), `${below}`);
    assertFalse(below.includes("img /kept.gif"), `${below}`);
  },
  {
    routes: [
      image("/new.gif"),
      image("/kept.gif"),
      file(
        "/worker.js",
        "text/javascript",
        `addEventListener("install", (event) =>
           event.waitUntil(caches.open("kept").then((kept) => kept.add("/kept.gif"))));
         addEventListener("activate", (event) => event.waitUntil(clients.claim()));
         addEventListener("fetch", (event) => event.respondWith(
           caches.match(event.request).then((kept) => kept ?? fetch(event.request))));`,
      ),
    ],
  },
);

testPage(
  "a fetch that can't send traceparent is linked, and recorded once",
  async (app, view) => {
    await run(view, `await fetch("/hidden.txt", { mode: "no-cors" })`);
    await assertLinked(app, "fetch /hidden.txt", "GET /hidden.txt");
    const { trace } = await traceWith(app.tracer, "GET /hidden.txt");
    const fetches = [...trace.spans.values()]
      .filter(({ name }) => name.startsWith("fetch "));
    assertEquals(fetches.length, 1);
  },
  { routes: [file("/hidden.txt", "text/plain")] },
);
