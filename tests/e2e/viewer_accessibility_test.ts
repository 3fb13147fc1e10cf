/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { assertEquals } from "@std/assert";
import { generateViewerHTML } from "@quartet/kit/trace";
import { insertTraceData } from "../../trace/export/html.ts";
import { makeFolder } from "../dev/dev_command.ts";
import { sampleTraces } from "../viewer/sample_traces.ts";
import { assertAccessible, loadAxe, LOOKS } from "./accessibility.ts";
import type { Page } from "./browser.ts";
import { startBrowser } from "./browser.ts";
import {
  assertQuiet,
  clickUntilSelected,
  openTrace,
  openViewer,
  recordFailure,
  selectSpan,
  startAtlas,
  waitForCount,
} from "./viewer_page.ts";

/** Views of the page, and the steps to each from a trace with an error. */
const PLACES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  "the trace and its details": async (page) => {
    await page.keyboard.press("e");
    await page.locator("#details .failure").waitFor();
  },
  "the flame graph": async (page) => {
    await page.keyboard.press("f");
    await page.locator("#flame").waitFor();
  },
  "the help": async (page) => {
    await page.keyboard.press("f");
    await page.keyboard.press("?");
    await page.locator("#help").waitFor();
  },
  "the export menu": async (page) => {
    await page.keyboard.press("Escape");
    await page.locator("#help").waitFor({ state: "detached" });
    await page.locator("#export").click();
    await page.locator("#export-menu").waitFor();
  },
  "the list": async (page) => {
    await page.keyboard.press("Escape");
    await page.locator("#export-menu").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Close the trace" }).click();
    await page.locator("#waterfall").waitFor({ state: "detached" });
  },
  "the comparison": async (page) => {
    await page.locator("#trace-list").focus();
    for (const key of ["g", "x", "j", "j", "x"]) await page.keyboard.press(key);
    await page.locator("#compare-spans [role=row]").nth(1).waitFor();
  },
  "the routes": async (page) => {
    await page.getByRole("button", { name: "Close the comparison" }).click();
    await page.getByRole("button", { name: "Close the trace" }).click();
    await page.keyboard.press("r");
    await page.locator("#route-table [data-row]").first().waitFor();
  },
  "the spans of a route": async (page) => {
    await page.getByRole("button", { name: "Spans" }).first().click();
    await page.locator(".route-spans tbody tr").first().waitFor();
  },
};

Deno.test("axe finds no serious violation", async (t) => {
  await using browser = await startBrowser();
  await using folder = await makeFolder();
  const empty = await generateViewerHTML([]);
  const text = JSON.stringify(sampleTraces({ count: 200 }));
  await folder.write(
    "traces.html",
    insertTraceData(empty, { encoding: "json", text }),
  );
  await folder.write("empty.html", empty);

  for (const { colorScheme, width } of LOOKS) {
    const options = { colorScheme, width, height: 900 };
    await t.step(`in ${colorScheme} at ${width} pixels`, async (t) => {
      await using view = await openViewer(
        browser,
        `file://${folder.path}/traces.html`,
        options,
      );
      const { page } = view;
      await loadAxe(page);
      await page.getByRole("button", { name: /^Filters/ }).or(
        page.getByLabel("Method"),
      ).first().click();
      await page.locator("#search").fill("Error");
      await clickUntilSelected(page, "#trace-list .failed");
      await page.locator("#waterfall [data-row]").first().waitFor();
      for (const [name, go] of Object.entries(PLACES)) {
        await t.step(name, async () => {
          await go(page);
          await assertAccessible(page);
        });
      }
      await assertQuiet(view);
    });
    await t.step(
      `of an empty page in ${colorScheme} at ${width} pixels`,
      async () => {
        await using view = await openViewer(
          browser,
          `file://${folder.path}/empty.html`,
          options,
        );
        await loadAxe(view.page);
        await view.page.locator("#empty h2").waitFor();
        await assertAccessible(view.page);
      },
    );
  }
});

Deno.test("Forced colors keep bars, swatches and the selection visible", async () => {
  await using browser = await startBrowser();
  await using atlas = startAtlas();
  recordFailure(atlas.tracer);
  for (const colorScheme of ["light", "dark"] as const) {
    await using view = await openViewer(browser, atlas.viewer, { colorScheme });
    const { page } = view;
    await page.emulateMedia({ colorScheme, forcedColors: "active" });
    await loadAxe(page);
    await openTrace(page, "job:report");
    await selectSpan(page, "step:first");
    const colorless: string[] = [];
    for (
      const part of [
        "#trace-list .layer-bar",
        "#trace-list .selected",
        "#waterfall .bar",
        "#waterfall .swatch",
        "#waterfall .selected",
        "#waterfall .mark.failure",
        ".legend .swatch",
        ".trace-actions [aria-pressed=true]",
        ".tabs [aria-pressed=true]",
        ".live-dot",
      ]
    ) {
      if (!await hasColor(page, part)) colorless.push(part);
    }
    assertEquals(colorless, []);
    await assertAccessible(page);
    // The colors of the canvas, too, follow the system's.
    await page.keyboard.press("f");
    await page.locator("#flame").waitFor();
    await assertAccessible(page);
    await assertQuiet(view);
  }
});

/**
 * Whether the first element that matches shows a color that is neither black,
 * white nor gray.
 */
async function hasColor(page: Page, selector: string): Promise<boolean> {
  const element = page.locator(selector).first();
  const image = (await element.screenshot()).toString("base64");
  return await page.evaluate(async (image) => {
    const bytes = Uint8Array.fromBase64(image);
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d")!;
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    let colored = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [r, g, b] = data.subarray(i, i + 3);
      if (Math.max(r!, g!, b!) - Math.min(r!, g!, b!) > 15) colored++;
    }
    return colored > 4;
  }, image);
}

Deno.test("A screen reader reads the head of the status column as Status", async () => {
  await using browser = await startBrowser();
  await using atlas = startAtlas();
  recordFailure(atlas.tracer);
  for (const width of [1280, 400]) {
    await using view = await openViewer(browser, atlas.viewer, { width });
    const { page } = view;
    await waitForCount(page, "1 trace");
    const head = page.locator("#trace-list .grid-head");
    assertEquals(
      await head.locator(".statusCode").ariaSnapshot(),
      `- columnheader "Status":
  - button "Status"`,
    );
  }
});
