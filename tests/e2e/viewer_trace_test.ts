/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { createTracer } from "@quartet/kit/trace";
import { assertEquals, assertNotEquals } from "@std/assert";
import { shareBrowser } from "./browser.ts";
import {
  assertQuiet,
  openTrace,
  openViewer,
  recordFailure,
  startAtlas,
  waitForAddress,
  waitForCount,
  waitForRows,
  waitForText,
  waitForTexts,
  waitForValue,
  waitUntil,
} from "./viewer_page.ts";
import { ask, testViewer } from "./viewer_fixture.ts";

const browser = shareBrowser();

testViewer(browser, "compares two traces", async ({ page }, atlas) => {
  await ask(atlas, "/countries/nowhere", "/countries/fra");
  await waitForCount(page, "2 traces");
  await openTrace(page, "/countries/nowhere");
  await page.getByRole("button", { name: "Compare" }).click();
  await openTrace(page, "/countries/fra");
  await page.getByRole("button", { name: "Compare with marked" }).click();
  const spans = page.locator("#compare-spans");
  await spans.waitFor();
  await waitForTexts(page, ".compare-header .side-path", [
    "GET /countries/nowhere",
    "GET /countries/fra",
  ]);
  await spans.locator("[role=row]", { hasText: "only B" }).first().waitFor();
  const { trace, compare } = await waitForAddress(
    page,
    ({ compare }) => compare !== "",
  );
  await page.getByRole("button", { name: "Swap" }).click();
  await spans.locator("[role=row]", { hasText: "only A" }).first().waitFor();
  await waitForAddress(
    page,
    (address) => address.trace === compare && address.compare === trace,
  );
  await page.reload();
  await spans.locator("[role=row]", { hasText: "only A" }).first().waitFor();
  await page.getByRole("button", { name: "Close the comparison" }).click();
  await waitForText(page, ".trace-header h2", "/countries/fra");
});

testViewer(
  browser,
  "compares repeated spans as a group, and shows the details of each",
  async (view, atlas) => {
    const { page } = view;
    recordFailure(atlas.tracer);
    recordFailure(atlas.tracer);
    await waitForCount(page, "2 traces");
    await page.locator("#trace-list").focus();
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    await waitForRows(page, "#compare-spans [data-row]", 4);
    const group = page.locator("[data-row]", { hasText: "× 12" });
    await group.locator(".label").click();
    await waitForText(page, "#details", "The same span 12 times");
    await group.locator("[data-twist]").click();
    await waitForRows(page, "#compare-spans [data-row]", 16);

    // Details, and links, are of the span that was clicked.
    const [first, second] = atlas.tracer.getTraces()
      .map((trace) => trace.spans.values().toArray().at(-1)!.id);
    const step = page.locator("[data-row]", { hasText: "step:second" });
    await step.locator(".duration.pair-a").click();
    await waitForText(page, "#details", second!);
    await step.locator(".duration.pair-b").click();
    await waitForText(page, "#details", first!);
    await waitForText(page, "#details", "RangeError: The second step");
    await waitForAddress(page, ({ span }) => span === first);
    await page.reload();
    await waitForText(page, "#details", first!);
    await page.locator("#compare-spans").focus();
    await page.keyboard.press("k");
    await waitForText(page, "#details h3", "step:first");
    await page.keyboard.press("Escape");
    await page.locator("#details").waitFor({ state: "detached" });
    await page.locator("#compare-spans").waitFor();
  },
);

testViewer(
  browser,
  "keeps the selected row visible while its details open",
  async (view, atlas) => {
    const { page } = view;
    const root = atlas.tracer.startTrace("job:many");
    for (let i = 0; i < 60; i++) root.child(`step:${i}`, "custom").end();
    root.end();
    await waitForCount(page, "1 trace");
    await openTrace(page, "job:many");
    const grid = page.locator("#waterfall");
    const { height } = (await grid.boundingBox())!;
    const label = `step:${Math.floor(height / 24) - 4}`;
    await grid.getByText(label, { exact: true }).click();
    await page.locator("#details").waitFor();
    await waitForText(page, "[aria-selected=true] .label", label);
    await waitUntil(
      page,
      `(() => {
      const row = document.querySelector("#waterfall [aria-selected=true]").getBoundingClientRect();
      const grid = document.querySelector("#waterfall").getBoundingClientRect();
      return grid.height < 500 && row.top >= grid.top + 24 && row.bottom <= grid.bottom;
    })()`,
    );
  },
);

testViewer(
  browser,
  "marks failed spans in the flame graph",
  async ({ page }, atlas) => {
    recordFailure(atlas.tracer);
    await waitForCount(page, "1 trace");
    await openTrace(page, "job:report");
    await page.keyboard.press("f");
    await waitForText(page, "#flame-told", /^job:report: /);
    await page.locator("#flame").focus();
    const told = page.locator("#flame-told");
    // Frames are in order of time, so the steps may come second.
    for (const key of ["ArrowDown", "ArrowRight"]) {
      const before = await told.innerText();
      await page.keyboard.press(key);
      await told.filter({ hasNotText: before }).waitFor();
      if (/^step:/.test(await told.innerText())) break;
    }
    await waitForText(page, "#flame-told", /^step:.*; 1 failed$/);
  },
);

testViewer(browser, "draws a flame graph", async ({ page }, atlas) => {
  recordFailure(atlas.tracer);
  await waitForCount(page, "1 trace");
  await openTrace(page, "job:report");
  await page.getByRole("button", { name: "Flame graph" }).click();
  const flame = page.locator("#flame");
  await waitForText(page, "#flame-told", /^job:report: .*100 %/);
  // Frames react to clicks once they are drawn.
  await waitUntil(
    page,
    `(() => {
      const canvas = document.querySelector("#flame canvas");
      const { width, height } = canvas;
      if (width === 0 || height === 0) return false;
      const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
      return new Set(new Uint32Array(data.buffer)).size > 2;
    })()`,
  );
  await flame.click({ position: { x: 8, y: 10 } });
  await waitForText(page, "#details h3", "job:report");
  await page.getByRole("button", { name: "Waterfall" }).click();
  await page.locator("#waterfall").waitFor();
});

testViewer(
  browser,
  "hides layers, ungroups spans, and zooms",
  async ({ page }, atlas) => {
    recordFailure(atlas.tracer);
    await waitForCount(page, "1 trace");
    await openTrace(page, "job:report");
    await waitForRows(page, "#waterfall [data-row]", 4);
    await page.getByRole("button", { name: "Group", exact: true }).click();
    await waitForRows(page, "#waterfall [data-row]", 15);
    const layers = page.getByRole("group", { name: "Layers" });
    await layers.getByRole("button", { name: /^database/ }).click();
    await waitForRows(page, "#waterfall [data-row]", 3);
    const axis = () => page.locator("#waterfall .axis .tick").allInnerTexts();
    const whole = await axis();
    const overview = (await page.getByRole("group", { name: "Overview" })
      .boundingBox())!;
    await page.mouse.move(overview.x + overview.width / 4, overview.y + 9);
    await page.mouse.down();
    await page.mouse.move(overview.x + overview.width / 2, overview.y + 9);
    await page.mouse.up();
    // The first tick is the trace's start, which is out of the range.
    await waitForValue(async () => (await axis()).includes(whole[0]!), false);
    await page.keyboard.press("0");
    await waitForValue(axis, whole);
  },
);

Deno.test(
  "The viewer shows 10,000 spans in the overview",
  async () => {
    const tracer = createTracer({ maxSpansPerTrace: 10_000 });
    const root = tracer.startTrace("job:many");
    for (let i = 1; i < 10_000; i++) root.child(`step:${i}`, "database").end();
    root.end();
    await using atlas = startAtlas({ tracer });
    await using view = await openViewer(browser, atlas.viewer);
    const { page } = view;
    await waitForCount(page, "1 trace");
    await openTrace(page, "job:many");
    await waitForText(page, ".trace-facts", "10,000 spans");
    await waitUntil(
      page,
      `(() => {
        const canvas = document.querySelector(".minimap canvas");
        const { width, height } = canvas;
        if (width < 400) return false;
        const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
        const rows = Array.from({ length: height }, (_, y) =>
          data.subarray(y * width * 4, (y + 1) * width * 4)
            .some((value, i) => i % 4 === 3 && value > 200));
        return rows.filter(Boolean).length > height * 0.9;
      })()`,
    );
    await assertQuiet(view);
  },
);

testViewer(
  browser,
  "goes from the errors to the span that threw",
  async ({ page }, atlas) => {
    const root = atlas.tracer.startTrace("GET /broken", "request");
    const step = root.child("step:load", "custom");
    step.child("step:fine", "custom").end();
    const query = step.child("db.query", "database");
    for (const span of [query, root]) {
      span.error(new RangeError("The table is gone"));
    }
    query.end();
    step.end();
    root.end();
    await waitForCount(page, "1 trace");
    await openTrace(page, "/broken");
    const errors = page.locator(".trace-header")
      .getByRole("button", { name: "2 errors" });
    for (const name of ["db.query", "GET /broken", "db.query"]) {
      await errors.click();
      await waitForText(page, "#details h3", name);
    }
    await page.keyboard.press("Escape");
    await page.keyboard.press("e");
    await waitForText(page, "#details h3", "db.query");
  },
);

testViewer(
  browser,
  "shows failed spans behind a 200 alike in the list and in the header",
  async ({ page }, atlas) => {
    await ask(atlas, "/countries/fra");
    await waitForCount(page, "1 trace");
    await openTrace(page, "/countries/fra");
    const color = (part: string) =>
      page.locator(`${part} .status`).last()
        .evaluate((status) => getComputedStyle(status).color);
    const good = await color("#trace-list [data-row]");
    assertEquals(await color(".trace-header"), good);

    const root = atlas.tracer.startTrace("GET /half", "request");
    root.setAttribute("http.request.method", "GET");
    root.setAttribute("http.response.status_code", 200);
    const step = root.child("step:mail", "custom");
    step.error(new Error("No answer"));
    step.end();
    root.end();
    await waitForCount(page, "2 traces");
    await openTrace(page, "/half");
    await waitForText(page, ".trace-header .status", "200");
    const bad = await color("#trace-list .failed");
    assertNotEquals(bad, good);
    assertEquals(await color(".trace-header"), bad);
  },
);

testViewer(
  browser,
  "compares a span with the same span of the route's other traces",
  async ({ page }, atlas) => {
    await ask(atlas, ...Array(12).fill("/countries/fra"), "/countries/deu");
    await waitForCount(page, "13 traces");
    await openTrace(page, "/countries/fra");
    await page.locator("#waterfall [data-row] .label").first().click();
    const history = page.getByRole("region", { name: "History" });
    await history.getByText(
      /^(Slower than \d.* % of|Faster than all) 11 runs on this route$/,
    ).waitFor();
    await history.getByRole("img", { name: /^From .*s to .*s$/ }).waitFor();
  },
);
