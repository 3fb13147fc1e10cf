/** One trace from the page to the SQL, in a real browser. */

import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { createRouter, procedure } from "@quartet/kit/rpc";
import { createTracer, tracedAdapter } from "@quartet/kit/trace";
import type { SpanData, TraceData, Tracer } from "@quartet/kit/trace";
import { serveAtlas } from "../atlas/serve_atlas.ts";
import { shareBrowser, type TestPage } from "./browser.ts";
import {
  collectSent,
  run,
  sentSpan,
  startClientApp,
  until,
} from "./client_page.ts";

const browser = shareBrowser();

/** Returns the only trace, and checks that the API has the same. */
async function onlyTrace(tracer: Tracer, origin: string): Promise<TraceData> {
  const [trace, ...others] = tracer.getTraces();
  const rest = others.map(({ spans }) => [...spans.values()][0]!.name);
  assertEquals(rest, [], "nothing is left over as a trace of its own");
  const response = await fetch(`${origin}/__app/traces/api`);
  const { traces } = await response.json();
  assertEquals(traces.length, 1);
  assertEquals(traces[0].spans.length, trace!.spans.size);
  return trace!;
}

/** Returns the names of the spans above a span, from the root down. */
function above({ spans }: TraceData, { parentId }: SpanData): string[] {
  const parent = spans.get(parentId ?? "");
  return parent === undefined
    ? []
    : [...above({ spans } as TraceData, parent), parent.name];
}

/** Checks that a duration is within 5 % of what the page's timeline says. */
async function assertAsTimeline(view: TestPage, duration: number) {
  const last = await run<number>(
    view,
    `const [navigation] = performance.getEntriesByType("navigation");
     const resources = performance.getEntriesByType("resource")
       .filter(({ name }) => !name.includes("/__app/"));
     const tasks = await new Promise((resolve) => {
       new PerformanceObserver((list) => resolve(list.getEntries()))
         .observe({ type: "longtask", buffered: true });
       // Without long tasks, the observer isn't called.
       setTimeout(resolve, 500, []);
     });
     let end = Math.max(navigation.loadEventEnd, ...resources.map((x) => x.responseEnd));
     // A page that was idle for a second has loaded. A slow one has long tasks later.
     for (const { startTime, duration } of tasks) {
       if (startTime < end + 1000) end = Math.max(end, startTime + duration);
     }
     return end;`,
  );
  assert(
    Math.abs(duration - last) <= last * 0.05,
    `${duration} ms are within 5 % of ${last} ms`,
  );
}

Deno.test("Ten parallel fetches, their procedures and their SQL are part of the page load", async () => {
  const database = tracedAdapter(new DatabaseSync(":memory:"), {
    system: "sqlite",
  });
  database.exec("CREATE TABLE item (id INTEGER, name TEXT)");
  const { handler } = createRouter({
    item: procedure.query(async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return database.prepare("SELECT name FROM item WHERE id = 1").all();
    }),
  });
  await using app = await startClientApp({
    head: `<script>
      addEventListener("load", async () => {
        // One long task at least, so that the page's timeline has an end.
        const end = performance.now() + 60;
        while (performance.now() < end);
        // Chromium sends equal requests one after the other.
        const get = async (_, i) => (await fetch("/api/rpc?path=item&i=" + i)).json();
        await Promise.all(Array.from({ length: 10 }, get));
      });
    </script>`,
    routes: [{ path: "/api/rpc", handler }],
  });
  await using view = await browser.newPage();
  await view.page.goto(app.url);
  await sentSpan(app, "page:load");
  const trace = await onlyTrace(app.tracer, app.url);
  const spans = [...trace.spans.values()];
  const named = (name: string) => spans.filter((span) => span.name === name);
  const pathTo = (span: SpanData) => above(trace, span);
  assertEquals(pathTo(named("GET /")[0]!), ["page:load"]);
  assertEquals(pathTo(named("GET /script.js")[0]!), [
    "page:load",
    "script /script.js",
  ]);
  assertEquals(named("fetch GET /api/rpc").length, 10);
  const queries = spans.filter(({ attributes }) =>
    attributes["db.query.summary"] === "SELECT item"
  );
  assertEquals(queries.length, 10);
  for (const query of queries) {
    assertEquals(pathTo(query).slice(0, 3), [
      "page:load",
      "fetch GET /api/rpc",
      "GET /api/rpc",
    ]);
    assert(pathTo(query).includes("rpc:item"));
  }
  await assertAsTimeline(view, trace.duration);
  assertEquals(view.errors, []);
});

Deno.test("A page of Atlas is one trace", async () => {
  const tracer = createTracer();
  const sent = collectSent(tracer);
  await using atlas = serveAtlas({ tracer });
  await using view = await browser.newPage();
  await view.page.goto(atlas.origin);
  await sentSpan({ sent }, "page:load");
  const trace = await onlyTrace(tracer, atlas.origin);
  const pathTo = (name: string) => {
    const span = trace.spans.values().find((span) => span.name === name);
    return span && above(trace, span).join(" > ");
  };
  assertEquals(pathTo("page:load"), "");
  assertEquals(pathTo("GET /"), "page:load");
  assertEquals(pathTo("GET /style.css"), "page:load > link /style.css");
  assertEquals(pathTo("GET /script.js"), "page:load > script /script.js");
  assertEquals(pathTo("hydrate:Search"), "page:load");
  await assertAsTimeline(view, trace.duration);
  await view.page.locator("#q").press("i");
  const { traceId } = await until(
    "the key's trace",
    () => sent.find(({ attributes }) => attributes["app.action"] === "key"),
  );
  await sentSpan({ sent }, "fetch GET /api/rpc");
  const key = tracer.getTrace(traceId)!;
  const call = key.spans.values().find(({ name }) => name === "GET /api/rpc")!;
  assertEquals(above(key, call), ["key input#q", "fetch GET /api/rpc"]);
  assertEquals(view.errors, []);
});
