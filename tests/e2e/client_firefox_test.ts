import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { assert, assertEquals } from "@std/assert";
import { ROOT } from "../helpers.ts";
import { bundle, sentSpan, startClientApp, until } from "./client_page.ts";
import { hasFirefox, openFirefox } from "./firefox.ts";

const PAGE = `
  import { createClient } from "${new URL("rpc/client.ts", ROOT).pathname}";
  addEventListener("load", () => {
    const rpc = createClient({ httpEndpoint: "/api/rpc" });
    rpc.ticks.subscribe(undefined, { onData: () => fetch("/echo") });
  });
`;

Deno.test({
  name:
    "In Firefox, a page, its document, fetch, socket and subscription are one trace",
  ignore: !hasFirefox,
  async fn() {
    const router = createRouter({
      ticks: procedure.subscription(async function* ({ signal }) {
        yield "tick";
        await new Promise((resolve) =>
          signal.addEventListener("abort", resolve, { once: true })
        );
      }),
    });
    const rpc = rpcPlugin({ router });
    const script = await bundle(PAGE);
    await using app = await startClientApp({
      head: '<script src="/rpc.js"></script>',
      routes: [
        {
          path: "/api/rpc",
          handler: (request, context) => rpc.handle(request, context)!,
        },
        {
          path: "/rpc.js",
          handler: () =>
            new Response(script, {
              headers: { "content-type": "text/javascript" },
            }),
        },
      ],
    });
    try {
      await using _firefox = await openFirefox(`${app.url}/`);
      const expected: readonly (readonly [name: string, parent: string])[] = [
        ["GET /", "page:load"],
        ["fetch GET /echo", "page:load"],
        ["GET /echo", "fetch GET /echo"],
        ["websocket /api/rpc", "page:load"],
        ["GET /api/rpc", "websocket /api/rpc"],
        ["rpc:ticks", "websocket /api/rpc"],
      ];
      const trace = await until(
        "the page's trace",
        () =>
          app.tracer.getTraces().find(({ spans }) => {
            const names = new Set(spans.values().map(({ name }) => name));
            return expected.every(([name]) => names.has(name));
          }),
      );
      const all = [...trace.spans.values()];
      for (const [name, parent] of expected) {
        const { parentId } = all.find((span) => span.name === name)!;
        assertEquals(trace.spans.get(parentId ?? "")?.name, parent, name);
      }
    } finally {
      await rpc.close!();
    }
  },
});

Deno.test({
  name: "A page in Firefox is one trace with its resources and requests",
  ignore: !hasFirefox,
  async fn() {
    await using app = await startClientApp({
      head: `<link rel="stylesheet" href="/style.css">
        <script>addEventListener("load", async () => {
          await (await fetch("/echo")).text();
          const xhr = new XMLHttpRequest();
          xhr.open("PUT", "/echo");
          xhr.send();
        })</script>`,
      routes: [{
        path: "/style.css",
        handler: () =>
          new Response("p { color: red }", {
            headers: { "content-type": "text/css" },
          }),
      }],
    });
    await using _firefox = await openFirefox(app.url);
    const page = await sentSpan(app, "page:load");
    const trace = app.tracer.getTrace(page.traceId)!;
    const parentOf = (name: string) => {
      const span = trace.spans.values().find((span) => span.name === name);
      assert(span !== undefined, `${name} is part of the trace`);
      return trace.spans.get(span.parentId ?? "")?.name;
    };
    assertEquals(parentOf("page:load"), undefined);
    assertEquals(parentOf("GET /"), "page:load");
    assertEquals(parentOf("GET /style.css"), "link /style.css");
    assertEquals(parentOf("GET /script.js"), "script /script.js");
    assertEquals(parentOf("GET /echo"), "fetch GET /echo");
    assertEquals(parentOf("PUT /echo"), "xmlhttprequest /echo");
    assertEquals(typeof page.attributes["app.vital.ttfb"], "number");
    // Firefox doesn't measure it.
    assertEquals(page.attributes["app.vital.cls"], undefined);
    assertEquals(app.tracer.getTraces().length, 1);
  },
});
