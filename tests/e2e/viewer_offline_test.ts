import { assertEquals, assertMatch } from "@std/assert";
import { exportTracesHTML } from "@quartet/kit/trace";
import { makeFolder } from "../dev/dev_command.ts";
import { startBrowser, type TestBrowser } from "./browser.ts";
import { until } from "./client_page.ts";
import {
  assertQuiet,
  newViewerPage,
  openTrace,
  openViewer,
  recordFailure,
  selectSpan,
  startAtlas,
  type ViewerPage,
  waitForAddress,
  waitForCount,
  waitForPaths,
  waitForText,
  walkByKeyboard,
} from "./viewer_page.ts";

Deno.test("An exported page, opened from a file with the network off", async (t) => {
  await using browser = await startBrowser();
  await using folder = await makeFolder();
  const address = (name: string) => `file://${folder.path}/${name}`;
  const count = await writePages(browser, folder.path);

  /** Runs a step with an open file. The page must make no other request. */
  const step = (
    name: string,
    file: string,
    fn: (view: ViewerPage) => Promise<void>,
  ) =>
    t.step(name, async () => {
      await using view = await openViewer(browser, address(file), {
        offline: true,
      });
      await fn(view);
      await assertQuiet(view);
      for (const url of view.requests) {
        assertMatch(url, /^(file:\/\/\S+\.html(#.*)?|blob:null\/\S+)$/);
      }
    });

  await step(
    "shows the traces that the server exported",
    "server.html",
    (view) => walk(view, count),
  );
  await step(
    "shows a few traces that the server exported",
    "small.html",
    async ({ page }) => {
      await waitForPaths(page, ["job:report"]);
      await openTrace(page, "job:report");
    },
  );
  await step(
    "shows the traces that the viewer exported",
    "page.html",
    (view) => walk(view, count),
  );

  await step("can be exported again", "page.html", async ({ page }) => {
    const file = await save(page, "HTML page");
    await file.saveAs(`${folder.path}/again.html`);
  });
  await step(
    "shows traces that were exported twice",
    "again.html",
    (view) => walk(view, count),
  );
  await t.step("is the same after a second export", async () => {
    const [page, again] = await Promise.all(
      ["page", "again"].map((name) =>
        Deno.readTextFile(`${folder.path}/${name}.html`)
      ),
    );
    assertEquals(again === page, true);
  });

  await step(
    "opens other files while it is empty",
    "empty.html",
    async (view) => {
      const { page } = view;
      await waitForText(page, "#empty", "Drop files here");
      const chooser = page.waitForEvent("filechooser");
      await page.locator("#empty").getByRole("button", { name: "Open files" })
        .click();
      await (await chooser).setFiles(`${folder.path}/server.html`);
      await waitForText(page, ".notice", `Added ${count} traces`);
      await openTrace(page, "/countries/fra");
    },
  );

  for (const name of ["cut.html", "begun.html"]) {
    await step(
      `reports that it is incomplete, as ${name}`,
      name,
      async (view) => {
        const { page } = view;
        await waitForText(page, "#empty", "can't be read");
        await page.getByRole("button", { name: "Keys" }).click();
        await page.locator("#help").waitFor();
      },
    );
  }
});

/** Uses the features of the viewer, whether traces are live or from a file. */
async function walk({ page }: ViewerPage, count: number): Promise<void> {
  await waitForCount(page, `${count} traces`);
  await walkByKeyboard(page);

  await page.locator("#search").fill("get /countries/fra");
  await waitForPaths(page, ["/countries/fra"]);
  await openTrace(page, "/countries/fra");
  await selectSpan(page, "SELECT country");
  await waitForText(page, "#details", "FROM country");
  await selectSpan(page, "page:load");
  await waitForText(page, "#details header .tag", "browser");
  const span = await page.locator("#waterfall [aria-selected=true]")
    .getAttribute("data-row");
  const link = await waitForAddress(page, (address) => address.span === span);
  await page.reload();
  await waitForText(page, "#details h3", "page:load");
  await waitForAddress(page, ({ href }) => href === link.href);

  await page.keyboard.press("Escape");
  await page.locator("#search").fill("");
  await page.getByLabel("Path contains").fill("/countries");
  await page.getByRole("button", { name: "Compare" }).click();
  await openTrace(page, "/countries/deu");
  await page.getByRole("button", { name: "Compare with marked" }).click();
  await page.locator("#compare-spans [role=row]").nth(1).waitFor();
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page.locator("#tab-routes").click();
  await waitForText(page, "#route-table .route", "/countries/:code");
  assertEquals(await page.locator("#connection").count(), 0);
}

/** Writes the pages. Returns the number of traces in the full ones. */
async function writePages(browser: TestBrowser, path: string): Promise<number> {
  await using atlas = startAtlas();
  recordFailure(atlas.tracer);
  const write = (name: string, text: string) =>
    Deno.writeTextFile(`${path}/${name}`, text);
  await write("small.html", await exportTracesHTML(atlas.tracer));

  await using other = await newViewerPage(browser);
  for (const code of ["deu", "fra"]) {
    await other.page.goto(`${atlas.url}/countries/${code}`);
    await until(`how ${code} was loaded`, () => {
      const trace = atlas.tracer.getTraces().find(({ metadata }) =>
        metadata.pathname === `/countries/${code}`
      );
      return trace?.spans.values().some(({ name }) => name === "page:load");
    });
  }
  // Leaving the page makes it send its last spans.
  await other.page.goto("about:blank");
  await using view = await openViewer(browser, atlas.viewer);
  await view.page.locator("#search").fill("page:load");
  await waitForPaths(view.page, ["/countries/fra", "/countries/deu"]);
  await view.page.locator("#search").fill("");
  await view.page.locator("[data-row]").nth(2).waitFor();

  // Enough traces to be packed.
  while (
    JSON.stringify(atlas.tracer.getTraces().map(({ spans }) => [...spans]))
      .length < 80_000
  ) {
    atlas.tracer.withSpan("job:fill", "custom", (span) => {
      for (let i = 0; i < 20; i++) {
        span.setAttribute(`fill.${i}`, "x".repeat(200));
      }
    });
  }
  const total = atlas.tracer.getTraces().length;
  await waitForCount(view.page, `${total} traces`);
  const download = await save(view.page, "HTML page");
  await download.saveAs(`${path}/page.html`);
  await assertQuiet(view);

  const html = await exportTracesHTML(atlas.tracer);
  assertMatch(html, /data-encoding="packed"/);
  await write("server.html", html);
  await write(
    "empty.html",
    html.replace(/data-encoding="packed">[^<]*/, `data-encoding="none">`),
  );
  await write(
    "cut.html",
    html.replace(/(data-encoding="packed">[^<]{2000})[^<]*/, "$1"),
  );
  await write(
    "begun.html",
    html.slice(0, html.indexOf(`data-encoding="packed">`) + 2_000),
  );
  return total;
}

/** Saves all listed traces. */
async function save(page: ViewerPage["page"], format: string) {
  await page.locator("#export").click();
  const download = page.waitForEvent("download");
  await page.getByRole("group", { name: /^All listed/ })
    .getByRole("menuitem", { name: format }).click();
  return await download;
}
