import { assert, assertEquals, assertFalse } from "@std/assert";
import { createApp, serve } from "@quartet/kit/app";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { createAtlas } from "../../examples/atlas/atlas.ts";
import { startBrowser } from "./browser.ts";
import { traceWith, until } from "./client_page.ts";

/** Atlas as the dev command serves it. Ends with its block. */
function startAtlas(traced: boolean) {
  const tracer = createTracer();
  const atlas = createAtlas({ database: ":memory:" });
  const host = createApp(traced ? { trace: tracePlugin(tracer) } : {});
  host.use((request, context) => atlas.fetch(request, context.info));
  const server = serve({
    fetch: host.fetch,
    async close() {
      await Promise.all([host.close(), atlas.close()]);
    },
  }, { port: 0, signals: false, onListen: () => {} });
  return {
    tracer,
    url: `http://127.0.0.1:${server.address.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("Atlas in a browser", async (t) => {
  await using browser = await startBrowser();

  await t.step("filters as one types, each look-up a trace", async () => {
    await using atlas = startAtlas(true);
    await using view = await browser.newPage();
    const { page } = view;
    await page.goto(atlas.url);
    const { trace: load, span } = await traceWith(
      atlas.tracer,
      "hydrate:Search",
    );
    assertEquals(load.metadata.pathname, "/");
    assertEquals(span.layer, "islands");
    assertEquals(span.parentId, load.rootSpanId);

    await page.fill("#q", "reykjav");
    await page.getByText("1 country").waitFor();
    assertEquals(await page.locator("main li").allInnerTexts(), [
      "🇮🇸 Iceland Europe",
    ]);
    const { trace, span: asked } = await traceWith(
      atlas.tracer,
      "fetch GET /api/countries",
    );
    const root = trace.spans.get(trace.rootSpanId)!;
    assertEquals(root.parentId, asked.id);
    assert(trace.spans.values().some(({ layer }) => layer === "database"));
    assert(await page.getByText("Iceland").isVisible());

    await page.getByText("Iceland").click();
    await page.getByText("None by land.").waitFor();
    await until(
      "the next page's load",
      () =>
        atlas.tracer.getTraces().find(({ metadata, spans }) =>
          metadata.pathname === "/countries/ISL" &&
          spans.values().some(({ name }) => name === "page:load")
        ),
    );
    assertEquals(view.errors, []);
    assertEquals(view.foreignRequests, []);
  });

  await t.step("without tracing, the page works and tells nobody", async () => {
    await using atlas = startAtlas(false);
    await using view = await browser.newPage();
    const asked: string[] = [];
    view.page.on("request", (request) => {
      asked.push(new URL(request.url()).pathname);
    });
    await view.page.goto(`${atlas.url}/?q=reyk`);
    assertEquals(await view.page.locator("main li").count(), 1);
    assertFalse((await view.page.content()).includes("app-trace-id"));
    await view.page.fill("#q", "oslo");
    await view.page.getByText("Norway").waitFor();
    assert(asked.includes("/api/countries"), "the search works as you type");
    assertEquals(asked.filter((path) => path.startsWith("/__app/")), []);
    assertEquals(view.errors, []);
  });
});
