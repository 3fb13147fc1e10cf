/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { assertEquals, assertMatch } from "@std/assert";
import { generateViewerHTML } from "@quartet/kit/trace";
import { joinSpans } from "../../trace/export/join.ts";
import { insertTraceData } from "../../trace/export/html.ts";
import { packTraces } from "../../trace/export/pack.ts";
import type { SerializedTrace } from "../../trace/types.ts";
import { makeFolder } from "../dev/dev_command.ts";
import { pagePieces, pageTrace } from "../viewer/page_traces.ts";
import { type Page, shareBrowser } from "./browser.ts";
import {
  assertQuiet,
  openViewer,
  type ViewerPage,
  waitForAddress,
  waitForCount,
  waitForRows,
  waitForText,
  waitForTexts,
  waitForValue,
  waitUntil,
} from "./viewer_page.ts";

const browser = shareBrowser();

/** Registers a test with an exported file of traces in the viewer. */
function testFile(
  name: string,
  traces: readonly SerializedTrace[],
  fn: (view: ViewerPage, file: string) => Promise<void>,
): void {
  Deno.test(`The viewer ${name}`, async () => {
    await using folder = await makeFolder();
    const page = insertTraceData(await generateViewerHTML([]), {
      encoding: "packed",
      text: await packTraces(traces),
    });
    await folder.write("traces.html", page);
    const file = `file://${folder.path}/traces.html`;
    await using view = await openViewer(browser, file);
    await fn(view, file);
    await assertQuiet(view);
  });
}

/** Returns the texts of the visible cells of the first row, without the time. */
async function firstRow(page: Page): Promise<string[]> {
  const cells = page.locator("#trace-list [data-row]").first()
    .locator("[role=gridcell]:not(.startTime, .duration, .layers)");
  return (await cells.allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
}

const KINDS = (["load", "navigation", "click"] as const)
  .map((action, number) => pageTrace({ action, number }));

testFile(
  "lists a page, a navigation and a click as one row each",
  KINDS,
  async ({ page }) => {
    await waitForCount(page, "3 traces");
    const rows = page.locator("#trace-list [data-row]");
    await waitForTexts(page, "#trace-list [data-row] .kind", [
      "click",
      "navigate",
      "page",
    ]);
    await waitForTexts(page, "#trace-list [data-row] .path .muted", [
      "/countries/fra · 3 requests",
      "3 requests",
      "/countries/:code · 4 requests",
    ]);
    await waitForValue(() => firstRow(page), [
      "click",
      'button "Save" /countries/fra · 3 requests 6× query',
      "200",
      "13",
    ]);
    const bar = rows.first().locator(".layer-bar");
    assertMatch(
      (await bar.getAttribute("aria-label"))!,
      /^200 ms: request \d+ %, database \d+ %$/,
    );
  },
);

testFile(
  "filters pages by their requests, and names the one that matches",
  [
    ...KINDS,
    pageTrace({ number: 4, failed: true }),
  ],
  async ({ page }) => {
    await waitForCount(page, "4 traces");
    await page.getByRole("button", { name: "Status 5xx" }).click();
    await waitForCount(page, "1 of 4 traces");
    await waitForText(
      page,
      "#trace-list .path",
      "→ GET /api/rpc/notes.list 500",
    );
    await page.getByLabel("Path contains").fill("notes");
    await waitForText(page, "#trace-list .path", "→ GET /api/rpc/notes.list");
    await page.getByRole("button", { name: "1 error" }).click();
    await waitForText(page, "#details", "RangeError: The note is too long");
    // The page's own answer is a 200, and the trace is a failed one everywhere.
    for (const place of ["#trace-list", ".trace-header"]) {
      await page.locator(`${place} .status-5`, { hasText: "200" }).waitFor();
    }
  },
);

const HISTORY = Array.from(
  { length: 25 },
  (_, number) =>
    pageTrace({ number, factor: number === 20 ? 5 : 1 + number / 100 }),
);

testFile(
  "compares a slow page with the median of its route",
  HISTORY,
  async ({ page }) => {
    const slow = page.locator(".badge", { hasText: "slow" });
    await slow.waitFor();
    await waitForRows(page, ".badge[title*=slower]", 1);
    await slow.click();
    await waitForText(page, ".compare-header", "1.00 s");
    await waitForText(page, ".compare-header", "slower than 96 % of 25");
    await waitForAddress(
      page,
      ({ compare, span }) => compare === HISTORY[20]!.id && span !== "",
    );
    await waitForText(page, "#details header", "browser");
  },
);

testFile(
  "shows the spans of a route beside another route, in a link too",
  [...HISTORY, pageTrace({ action: "click", number: 99 })],
  async ({ page }, file) => {
    await page.locator("#tab-routes").click();
    const route = (name: string) =>
      page.locator("#route-table [data-row]", { hasText: name });
    for (
      const [name, count] of [
        ["page /countries/:code", "25"],
        ["GET /countries/:code", "25"],
        ["GET /api/rpc/notes.list", "78"],
        ['click button "Save"', "1"],
      ] as const
    ) {
      await waitForValue(
        () => route(name).locator(".count").innerText(),
        count,
      );
    }
    await route("page /countries/:code").getByRole("button", { name: "Spans" })
      .click();
    const row = page.locator(".route-spans tbody tr", { hasText: "db.query" });
    await row.waitFor();
    await waitForValue(() => row.locator("td").count(), 4);
    await waitForValue(() => row.locator("td").first().innerText(), "6");
    await page.getByLabel("Compare with").selectOption(
      "GET /api/rpc/notes.list",
    );
    await waitUntil(
      page,
      `document.querySelectorAll(".route-spans tbody tr:first-child td").length === 9`,
    );
    // The runs of the other route are read in slices.
    await waitForValue(() => row.locator("td").nth(4).innerText(), "2");
    const { href } = await waitForAddress(
      page,
      ({ compare }) =>
        compare === "page /countries/:code\nGET /api/rpc/notes.list",
    );
    await using other = await openViewer(browser, href);
    await waitForText(other.page, ".route-spans caption", "78 runs");
    await assertQuiet(other);
    assertEquals(href.startsWith(file), true);

    await page.getByRole("button", { name: "Slowest and median" }).click();
    await waitForText(page, ".compare-header", "1.00 s");
    await page.goBack();
    await row.waitFor();
    await page.getByRole("button", { name: "Close the route" }).click();
    await row.waitFor({ state: "detached" });

    await page.locator("#route-table").focus();
    for (const key of ["g", "x", "j", "x"]) await page.keyboard.press(key);
    await waitForText(page, ".route-spans caption", ", B: ");
    await page.keyboard.press("Escape");
    await row.waitFor({ state: "detached" });
  },
);

Deno.test("The viewer joins the pieces of a page from two files, once", async () => {
  await using folder = await makeFolder();
  const { page: spans, document } = pagePieces({ number: 1 });
  for (const [name, piece] of Object.entries({ page: spans, document })) {
    await folder.write(`${name}.json`, JSON.stringify(joinSpans(piece)));
  }
  await folder.write("empty.html", await generateViewerHTML([]));
  await using view = await openViewer(
    browser,
    `file://${folder.path}/empty.html`,
  );
  const { page } = view;
  const open = async (name: string, notice: string) => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Open files" }).first().click();
    await (await chooser).setFiles(`${folder.path}/${name}.json`);
    await waitForText(page, ".notice", notice);
    await waitForCount(page, "1 trace");
  };
  await open("document", "Added 1 trace from document.json.");
  await open("page", "1 joined a trace of the page.");
  const joined = ["page", "/countries/fra /countries/:code · 4 requests", "14"];
  const row = async () => {
    const [kind, path, , spans] = await firstRow(page);
    return [kind, path!.replace(/ 6× query$/, ""), spans];
  };
  await waitForValue(row, joined);
  await open("document", "The page already had 1.");
  await waitForValue(row, joined);

  // Either id opens it.
  for (const { traceId } of [spans[0]!, document[0]!]) {
    await page.evaluate((id) => location.hash = `#trace=${id}`, traceId);
    await waitForText(page, ".trace-header h2", "/countries/fra");
    await waitForAddress(page, ({ trace }) => trace === spans[0]!.traceId);
    await page.getByRole("button", { name: "Close the trace" }).click();
    await page.locator(".trace-header").waitFor({ state: "detached" });
  }
  await assertQuiet(view);
});

testFile(
  "shows times in the zone that the user chose",
  KINDS.slice(0, 1),
  async ({ page }) => {
    const head = page.getByRole("columnheader", { name: "Time" });
    const time = page.locator("#trace-list .row .startTime");
    const choose = page.getByRole("button", { name: /^Times: / });
    await choose.click();
    await waitForValue(() => head.innerText(), "Time UTC");
    await waitForValue(() => time.innerText(), "12:00:00.000");
    assertEquals(
      await time.getAttribute("title"),
      "2026-11-23 12:00:00.000 UTC",
    );
    await page.reload();
    await waitForText(page, "#trace-list .startTime", "12:00:00.000");
    await choose.and(page.getByRole("button", { name: "Times: UTC" }))
      .waitFor();
  },
);
