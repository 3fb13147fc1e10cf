/** Web vitals of a page, compared with the package `web-vitals`, and long tasks. */

import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
// It must be loaded for its files to be found below.
import "web-vitals";
import { shareBrowser, type TestPage } from "./browser.ts";
import {
  type ClientApp,
  run,
  sentSpan,
  startClientApp,
} from "./client_page.ts";

const browser = shareBrowser();

/** A page whose text moves, and whose button blocks. */
const HEAD = `<script src="/web-vitals.js"></script>
<script>
  window.reported = {};
  for (const name of ["LCP", "CLS", "INP", "TTFB"]) {
    webVitals["on" + name](({ value }) => reported[name] = value, { reportAllChanges: true });
  }
  const block = (ms) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };
  addEventListener("DOMContentLoaded", () => {
    document.body.innerHTML = '<h1>A heading that is the largest text</h1><p id="text">text</p><button>Press</button>';
    document.querySelector("button").onclick = () => block(120);
    const move = () => document.querySelector("h1").style.marginTop = "60px";
    requestAnimationFrame(() => requestAnimationFrame(move));
    setTimeout(() => block(80), 100);
  });
</script>`;

function testVitals(
  name: string,
  fn: (app: ClientApp, view: TestPage) => Promise<void>,
): void {
  Deno.test(`Web vitals: ${name}`, async () => {
    const path = fileURLToPath(import.meta.resolve("web-vitals"));
    const code = await Deno.readTextFile(
      path.replace(/[^/]+$/, "web-vitals.iife.js"),
    );
    await using app = await startClientApp({
      head: HEAD,
      routes: [{
        path: "/web-vitals.js",
        handler: () =>
          new Response(code, {
            headers: { "content-type": "text/javascript" },
          }),
      }],
    });
    await using view = await browser.newPage();
    await view.page.goto(app.url);
    await fn(app, view);
  });
}

testVitals("a page load has the package's values", async (app, view) => {
  const page = await sentSpan(app, "page:load");
  const reported = await run<Record<string, number>>(view, "return reported");
  const { attributes } = page;
  assert(reported.CLS! > 0, "the page has moved");
  assertEquals(attributes["app.vital.cls"], reported.CLS);
  assertEquals(attributes["app.vital.lcp"], reported.LCP);
  assertEquals(attributes["app.vital.ttfb"], reported.TTFB);
  assertEquals(attributes["app.vital.inp"], undefined);
});

testVitals(
  "what changes after the page load is sent when the page is hidden",
  async (app, view) => {
    const page = await sentSpan(app, "page:load");
    await view.page.click("button");
    await run(
      view,
      `const until = async (look) => {
         while (!look()) {
           await new Promise((resolve) => setTimeout(resolve, 20));
         }
       };
       await until(() => reported.INP);
       // A shift long after an input counts.
       await new Promise((resolve) => setTimeout(resolve, 800));
       const before = reported.CLS;
       document.querySelector("h1").style.marginTop = "500px";
       await until(() => reported.CLS !== before);`,
    );
    const reported = await run<Record<string, number>>(view, "return reported");
    await view.page.goto("about:blank");
    const span = await sentSpan(app, "web-vitals");
    assertEquals(span.attributes, {
      "app.detached": true,
      "app.vital.cls": reported.CLS!,
      "app.vital.inp": reported.INP!,
    });
    assertEquals([span.traceId, span.parentId], [page.traceId, page.id]);
  },
);

testVitals("a long task belongs to the page load", async (app) => {
  const page = await sentSpan(app, "page:load");
  const task = await sentSpan(app, "longtask");
  assertEquals(task.parentId, page.id);
  assert(task.startTime >= page.startTime && task.endTime <= page.endTime);
});
