import { assert, assertEquals, assertFalse } from "@std/assert";
import { createTracer } from "@quartet/kit/trace";
import { serveAtlas } from "../atlas/serve_atlas.ts";
import { startBrowser } from "./browser.ts";
import type { Page } from "./browser.ts";
import { traceWith, until } from "./client_page.ts";

/** Signs in with Hillside as Ada. */
async function signIn(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Sign in" }).first().click();
  await page.getByRole("link", { name: "Sign in with Hillside" }).click();
  await page.getByRole("button", { name: "Ada Lovelace" }).click();
  await page.getByRole("link", { name: "Ada Lovelace" }).waitFor();
  // Buttons don't work before the script has run.
  await page.waitForLoadState();
}

Deno.test("Atlas in a browser", async (t) => {
  await using browser = await startBrowser();

  await t.step(
    "searches while the user types, with a trace for each request",
    async () => {
      const tracer = createTracer();
      await using atlas = serveAtlas({ tracer });
      await using view = await browser.newPage();
      const { page } = view;
      await page.goto(atlas.origin);
      const { trace: load, span } = await traceWith(
        tracer,
        "hydrate:Search",
      );
      assertEquals(load.metadata.pathname, "/");
      assertEquals(span.layer, "islands");
      assertEquals(load.spans.get(span.parentId!)?.name, "page:load");

      await page.fill("#q", "reykjav");
      await page.getByText("1 country").waitFor();
      assertEquals(await page.locator("main li").allInnerTexts(), [
        "🇮🇸 Iceland Europe",
      ]);
      const trace = await until(
        "the request below the fetch",
        () =>
          tracer.getTraces().find(({ spans }) =>
            spans.values().some(({ name, parentId }) =>
              name === "GET /api/rpc" &&
              spans.get(parentId!)?.name === "fetch GET /api/rpc"
            )
          ),
      );
      assert(trace.spans.values().some(({ layer }) => layer === "database"));

      await page.getByText("Iceland").click();
      await page.getByText("No land borders.").waitFor();
      await until(
        "the next page's load",
        () =>
          tracer.getTraces().find(({ metadata, spans }) =>
            metadata.pathname === "/countries/ISL" &&
            spans.values().some(({ name }) => name === "page:load")
          ),
      );
      assertEquals(view.errors, []);
      assertEquals(view.foreignRequests, []);
    },
  );

  await t.step("marks a favourite in every tab of the user", async () => {
    const tracer = createTracer();
    await using atlas = serveAtlas({ tracer });
    await using view = await browser.newPage();
    const { page: list } = view;
    const country = await list.context().newPage();
    await list.goto(atlas.origin);
    await signIn(list);
    await country.goto(`${atlas.origin}/countries/isl`);
    const star = country.getByRole("button", { name: "Favourite Iceland" });

    await list.getByRole("button", { name: "Favourite Iceland" }).click();
    const favourites = list.getByRole("navigation", { name: "Favourites" });
    await favourites.getByText("Iceland").waitFor();
    await country.locator("[aria-pressed=true]").waitFor();

    await star.click();
    await favourites.waitFor({ state: "detached" });
    await country.locator("[aria-pressed=false]").waitFor();

    await using visitor = await browser.newPage();
    await star.click();
    await favourites.waitFor();
    await visitor.page.goto(atlas.origin);
    await visitor.page.getByText("Sign in to keep favourites.").waitFor();
    assertEquals(await visitor.page.locator("[aria-pressed]").count(), 0);

    // The call is in the trace of the fetch. The subscription is in the trace
    // of the request that opened its socket.
    const { trace } = await traceWith(tracer, "rpc:favourites.add");
    const names = Array.from(trace.spans.values(), ({ name }) => name);
    assert(names.includes("db.execute"), names.join(", "));
    await list.close();
    await country.close();
    const live = await traceWith(tracer, "rpc:favourites.live");
    assert(live.trace.spans.values().some(({ layer }) => layer === "database"));
    assertEquals(view.errors, []);
  });

  await t.step("works without tracing and sends nothing", async () => {
    await using atlas = serveAtlas();
    await using view = await browser.newPage();
    const requested: string[] = [];
    view.page.on("request", (request) => {
      requested.push(new URL(request.url()).pathname);
    });
    await view.page.goto(`${atlas.origin}/?q=reyk`);
    assertEquals(await view.page.locator("main li").count(), 1);
    assertFalse((await view.page.content()).includes("app-trace-id"));
    await view.page.fill("#q", "oslo");
    await view.page.locator("main li", { hasText: "Norway" }).waitFor();
    assert(requested.includes("/api/rpc"), "the search works as you type");
    assertEquals(requested.filter((path) => path.startsWith("/__app/")), []);
    assertEquals(view.errors, []);
  });
});
