/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { createCache } from "@quartet/kit/data";
import { createTracer } from "@quartet/kit/trace";
import { assertEquals } from "@std/assert";
import { startCaches } from "../../dev/cache/start.ts";
import { assertAccessible, loadAxe } from "./accessibility.ts";
import { shareBrowser } from "./browser.ts";
import {
  assertQuiet,
  newViewerPage,
  openTrace,
  openViewer,
  selectSpan,
  startAtlas,
  waitForAddress,
  waitForCount,
  waitForPaths,
  waitForText,
} from "./viewer_page.ts";
import { ask, testViewer } from "./viewer_fixture.ts";

const browser = shareBrowser();

testViewer(
  browser,
  "opens the view in a link, and goes back",
  async (view, atlas) => {
    const { page } = view;
    await ask(atlas, "/countries/fra", "/countries/deu");
    await waitForCount(page, "2 traces");
    await openTrace(page, "/countries/fra");
    await selectSpan(page, "loader:/countries/:code");
    await page.getByRole("button", { name: "Flame graph" }).click();
    await page.locator("#flame").waitFor();
    const { href: link } = await waitForAddress(
      page,
      ({ href }) => /#trace=[0-9a-f]+&span=[0-9a-f]{16}&view=flame$/.test(href),
    );
    await page.reload();
    await waitForText(page, "#details h3", "loader:/countries/:code");
    await page.locator("#flame").waitFor();
    await waitForAddress(page, ({ href }) => href === link);

    await using other = await openViewer(
      browser,
      link.replace("&view=flame", ""),
    );
    await waitForText(other.page, ".trace-header h2", "/countries/fra");
    await waitForText(other.page, "#waterfall [aria-selected=true]", "loader");
    await other.page.locator("#trace-list [data-row]", { hasText: "deu" })
      .click();
    await waitForText(other.page, ".trace-header h2", "/countries/deu");
    await assertQuiet(other);

    await page.getByRole("button", { name: "Close the trace" }).click();
    await page.locator("#details").waitFor({ state: "detached" });
    await waitForAddress(page, ({ href }) => href === atlas.viewer);
    await page.goBack();
    await waitForText(page, ".trace-header h2", "/countries/fra");
    await page.goForward();
    await page.locator(".trace-header").waitFor({ state: "detached" });
  },
);

testViewer(
  browser,
  "follows a link right after a click",
  async (view, atlas) => {
    const { page } = view;
    await ask(atlas, "/countries/fra", "/countries/deu");
    await waitForCount(page, "2 traces");
    await openTrace(page, "/countries/fra");
    await selectSpan(page, "loader:/countries/:code");
    const { href: link } = await waitForAddress(
      page,
      ({ span }) => span !== "",
    );
    await page.getByRole("button", { name: "Close the trace" }).click();
    await page.locator("#details").waitFor({ state: "detached" });
    await waitForAddress(page, ({ href }) => href === atlas.viewer);

    for (const later of ["(run) => run()", "requestAnimationFrame"]) {
      await page.evaluate(
        `document.querySelector("#trace-list [data-row]").click();
         (${later})(() => { location.hash = ${
          JSON.stringify(new URL(link).hash)
        } })`,
      );
      await waitForText(page, "#details h3", "loader:/countries/:code");
      await waitForAddress(page, ({ href }) => href === link);
    }
  },
);

testViewer(
  browser,
  "opens the list in a link with its filters, search and order",
  async ({ page }, atlas) => {
    await ask(atlas, "/countries/fra", "/countries/deu", "/nowhere");
    await waitForCount(page, "3 traces");
    const found = ["/countries/deu", "/countries/fra"];
    await page.getByLabel("Method").selectOption("GET");
    await page.getByRole("button", { name: "Status 2xx" }).click();
    await page.getByLabel("Path contains").fill("countries");
    await page.locator("#search").fill("loader");
    await page.getByRole("columnheader", { name: "Path" }).getByRole("button")
      .click();
    await waitForPaths(page, found);
    const { href } = await waitForAddress(page, ({ sort }) => sort === "path");
    assertEquals(
      href,
      `${atlas.viewer}#q=loader&method=GET&status=2xx&path=countries&sort=path`,
    );
    await using other = await openViewer(browser, href);
    await waitForPaths(other.page, found);
    await waitForCount(other.page, "2 of 3 traces");
    await other.page.locator("#trace-list [aria-sort=ascending]").waitFor();
    assertEquals(
      await other.page.getByLabel("Path contains").inputValue(),
      "countries",
    );
    await waitForAddress(other.page, (address) => address.href === href);
    await assertQuiet(other);

    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.locator("#tab-routes").click();
    await waitForAddress(page, ({ view }) => view === "routes");
    await page.locator("#route-table [data-row]", { hasText: ":code" }).click();
    await waitForAddress(page, ({ route }) => route !== "");
    await waitForPaths(page, found);
    await page.goBack();
    await page.locator("#route-table").waitFor();
    await page.goBack();
    await waitForCount(page, "3 traces");
    await page.goForward();
    await page.locator("#route-table").waitFor();
  },
);

Deno.test("The viewer ignores what a link has wrong", async () => {
  await using atlas = startAtlas();
  await using view = await openViewer(
    browser,
    `${atlas.viewer}#status=9xx&layer=pie&min=-1&sort=pie&view=pie&zoom=pie`,
  );
  await ask(atlas, "/countries/fra");
  await waitForPaths(view.page, ["/countries/fra"]);
  await assertQuiet(view);
});

Deno.test("The viewer requests a linked trace that it no longer has", async () => {
  const tracer = createTracer({ maxTraces: 1_100 });
  for (let i = 0; i < 1_100; i++) tracer.startTrace(`job:${i}`).end();
  await using atlas = startAtlas({ tracer });
  const [oldest] = tracer.getTraces();
  await using view = await newViewerPage(browser);
  const requested = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  await view.page.route("**/api?traceId=*", async (route) => {
    requested.resolve();
    await answer.promise;
    await route.continue();
  });
  await view.page.goto(`${atlas.viewer}#trace=${oldest!.id}`);
  await requested.promise;
  await waitForCount(view.page, "1,000 traces");
  await waitForText(view.page, ".trace-pane", "Looking for the trace");
  answer.resolve();
  await waitForText(view.page, ".trace-header h2", "job:0");
  await waitForCount(view.page, "1,001 traces");
  await assertQuiet(view);
});

Deno.test("The viewer reports that a linked trace doesn't exist", async () => {
  await using atlas = startAtlas();
  await using view = await openViewer(
    browser,
    `${atlas.viewer}#trace=${"0".repeat(31)}1`,
  );
  const { page } = view;
  await ask(atlas, "/countries/fra");
  await waitForText(page, ".trace-pane", "This trace isn't here");
  await page.getByRole("button", { name: "Show the list" }).click();
  await waitForPaths(page, ["/countries/fra"]);
  await assertQuiet(view);
});

Deno.test("The viewer says why a look-up missed, links to the cause, and lists the keys and tags of the cache", async () => {
  const tracer = createTracer();
  const caches = startCaches(tracer);
  const cache = createCache();
  const post = cache.cacheFunction((id: string) => id, ["post"], {
    tags: ["posts"],
  });
  await using atlas = startAtlas({ tracer });
  await using view = await openViewer(browser, atlas.viewer);
  const { page } = view;
  await tracer.withSpan("first", "custom", () => post("7"));
  await tracer.withSpan("change", "custom", () => cache.revalidateTag("posts"));
  await tracer.withSpan("second", "custom", () => post("7"));
  await waitForCount(page, "3 traces");
  await openTrace(page, "second");
  await selectSpan(page, "cache.get");
  await waitForText(
    page,
    "#details .reason h4",
    /^miss: tag posts was invalidated \d+ ms ago by change$/,
  );
  await page.getByRole("link", { name: "Show the cause" }).click();
  await waitForText(page, ".trace-header h2", "change");
  await waitForText(page, "#details h3", "cache.invalidate");
  await waitForText(page, "#details .reason h4", "tag posts: 1 known entry");
  await page.goBack();
  await waitForText(page, ".trace-header h2", "second");
  await page.getByRole("button", { name: "Close the trace" }).click();

  await page.getByRole("tab", { name: "Cache" }).click();
  // They narrow down traces only.
  assertEquals(await page.locator("#filters").count(), 0);
  await waitForAddress(page, ({ view }) => view === "cache");
  const cells = page.locator("[aria-label=Cache] tbody :is(th, td)");
  await cells.first().waitFor();
  const texts = await cells.allInnerTexts();
  assertEquals(texts.length, 10);
  assertEquals(texts.slice(0, 3), [
    `["post","7"]`,
    "fresh for 60 min",
    "0 % of 2",
  ]);
  assertEquals(texts[5], "posts");
  assertEquals(texts.slice(7, 9), ["posts", "1"]);
  await tracer.withSpan("third", "custom", () => post("7"));
  await page.getByRole("button", { name: "Refresh" }).click();
  await waitForText(page, "[aria-label=Cache] tbody", "33 % of 3");
  await loadAxe(page);
  await assertAccessible(page);
  await page.getByRole("link", { name: "ago by change" }).click();
  await waitForText(page, "#details h3", "cache.invalidate");
  await assertQuiet(view);
  caches.close();
});
