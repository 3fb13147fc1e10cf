/**
 * Takes the pictures of the viewer in `docs/`: Atlas is asked for some pages,
 * by a browser and by others, and the viewer looks on.
 *
 * Run it with `deno run -A tools/screenshots.ts`; with a folder as argument it
 * takes pictures of all views there, in light and dark, to be looked at.
 *
 * @module
 */

import { generateViewerHTML } from "@quartet/kit/trace";
import { insertTraceData } from "../trace/export/html.ts";
import { startBrowser } from "../tests/e2e/browser.ts";
import type { Page, TestBrowser } from "../tests/e2e/browser.ts";
import {
  newViewerPage,
  openTrace,
  startAtlas,
  type TracedAtlas,
  waitForText,
} from "../tests/e2e/viewer_page.ts";
import { sampleTraces } from "../tests/viewer/sample_traces.ts";

const DOCS = new URL("../docs/", import.meta.url).pathname;
const SIZE = { width: 1120, height: 600 };

/** The two pictures of the README. */
async function takeForDocs(browser: TestBrowser): Promise<void> {
  await using atlas = startAtlas();
  await using view = await newViewerPage(browser, SIZE);
  const { page } = view;
  await page.goto(atlas.viewer);
  await waitForText(page, "#connection", "Live");
  await makeTraffic(browser, atlas);
  await page.screenshot({ path: `${DOCS}viewer-list.png` });

  await page.locator("#search").fill("page:load");
  await openTrace(page, "/countries/deu");
  await page.locator("#search").fill("");
  await page.locator("#trace-list").evaluate((list) => list.scrollTop = 0);
  await page.locator("#search").blur();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${DOCS}viewer-trace.png` });
}

/** Uses Atlas as a few visitors would. */
async function makeTraffic(
  browser: TestBrowser,
  atlas: TracedAtlas,
): Promise<void> {
  const ask = async (path: string, method = "GET") => {
    const response = await fetch(atlas.url + path, { method });
    await response.body?.cancel();
  };
  await using visitor = await newViewerPage(browser);
  await visitor.page.goto(`${atlas.url}/countries/deu`);
  for (const code of ["fra", "bel", "lux", "nowhere", "che", "aut"]) {
    await ask(`/countries/${code}`);
  }
  for (const text of ["a", "an", "and"]) await ask(`/api/countries?q=${text}`);
  await visitor.page.goto(atlas.url);
  await visitor.page.locator("#q").fill("berlin");
  await waitForText(visitor.page, "main p", "1 country");
  for (const code of ["pol", "cze", "dnk", "nld"]) {
    await ask(`/countries/${code}`);
  }
  await ask("/wp-login.php", "POST");
  await visitor.page.goto("about:blank");
}

/** Every view, in light and dark, wide and narrow. */
async function takeAll(browser: TestBrowser, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const file = await Deno.makeTempFile({ suffix: ".html" });
  const text = JSON.stringify(sampleTraces({ count: 200 }));
  const empty = await generateViewerHTML([]);
  await Deno.writeTextFile(
    file,
    insertTraceData(empty, { encoding: "json", text }),
  );
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 400]) {
      await using view = await newViewerPage(browser, {
        width,
        height: width > 1000 ? 900 : 800,
        colorScheme,
      });
      const { page } = view;
      await page.goto(`file://${file}`);
      await page.locator("#trace-list [data-row]").first().waitFor();
      for (const [name, go] of Object.entries(VIEWS)) {
        await go(page);
        await page.screenshot({
          path: `${folder}/${name}-${colorScheme}-${width}.png`,
        });
      }
    }
  }
  await Deno.remove(file);
}

const VIEWS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  list: () => Promise.resolve(),
  routes: async (page) => {
    await page.locator("#tab-routes").click();
    await page.locator("#route-table [data-row]").first().waitFor();
  },
  trace: async (page) => {
    await page.locator("#tab-traces").click();
    await page.locator("#search").fill("FROM reviews");
    await openTrace(page, "/products/");
    await page.locator("#search").fill("");
  },
  details: async (page) => {
    await page.locator("#waterfall [data-row]", { hasText: "×" })
      .locator(".label").click();
    await page.locator("#details").waitFor();
  },
  failure: async (page) => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.locator("#search").fill("Error");
    await page.locator("#trace-list .failed").first().click();
    await page.locator("#waterfall [data-row]").first().waitFor();
    await page.locator("#search").fill("");
    await page.locator("#waterfall").focus();
    await page.keyboard.press("e");
    await page.locator("#details .failure").waitFor();
  },
  flame: async (page) => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("f");
    await page.locator("#flame").waitFor();
  },
  compare: async (page) => {
    await page.keyboard.press("f");
    await page.locator("#waterfall").waitFor();
    await page.keyboard.press("x");
    await page.getByRole("button", { name: "Close the trace" }).click();
    await page.locator("#search").fill("FROM reviews");
    await openTrace(page, "/products/");
    await page.locator("#waterfall").focus();
    await page.keyboard.press("x");
    await page.locator("#compare-spans [role=row]").nth(1).waitFor();
  },
  help: async (page) => {
    await page.keyboard.press("?");
    await page.locator("#help").waitFor();
  },
};

await using browser = await startBrowser();
const folder = Deno.args[0];
if (folder === undefined) await takeForDocs(browser);
else await takeAll(browser, folder);
