/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { generateViewerHTML } from "@quartet/kit/trace";
import { assert, assertEquals } from "@std/assert";
import { makeFolder } from "../dev/dev_command.ts";
import { joinedTrace } from "../viewer/joined_trace.ts";
import { sampleTraces } from "../viewer/sample_traces.ts";
import { assertAccessible, loadAxe, LOOKS } from "./accessibility.ts";
import { type Page, shareBrowser } from "./browser.ts";
import {
  assertQuiet,
  openViewer,
  type ViewerPageOptions,
  waitForAddress,
  waitForPlace,
  waitForRows,
  waitForText,
  waitForTexts,
  waitForValue,
  waitUntil,
} from "./viewer_page.ts";

const browser = shareBrowser();
const joined = joinedTrace();
const LINK = `#trace=${joined.id}`;

/** Registers a test with an exported page, which has the joined trace open. */
function testJoined(
  name: string,
  fn: (page: Page) => Promise<void>,
  options: ViewerPageOptions & { readonly link?: string } = {},
): void {
  Deno.test(`The viewer ${name}`, async () => {
    await using folder = await makeFolder();
    const traces = [...sampleTraces({ count: 3 }), joined].map((trace) => ({
      ...trace,
      spans: new Map(trace.spans.map((span) => [span.id, span])),
    }));
    await folder.write("traces.html", await generateViewerHTML(traces));
    const url = `file://${folder.path}/traces.html${LINK}${options.link ?? ""}`;
    await using view = await openViewer(browser, url, options);
    await view.page.locator("[data-place=trace]").waitFor();
    await fn(view.page);
    await assertQuiet(view);
  });
}

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

function waitForNames(page: Page, names: readonly string[]): Promise<void> {
  return waitForTexts(page, "#waterfall [data-row] .label", names);
}

testJoined("shows one total of a joined trace everywhere", async (page) => {
  await waitForText(page, ".trace-facts strong", "650 ms");
  const row = page.locator("#trace-list .selected .duration");
  assertEquals(await row.innerText(), "650 ms");
  const first = page.locator("#waterfall [data-row] .duration").first();
  assertEquals(await first.innerText(), "650 ms");
  await waitForText(page, ".critical-summary", "of 650 ms");
  await press(page, "f");
  await waitForText(
    page,
    "#flame-told",
    "page load /shop: 650 ms, 100 %; itself 16.0 ms",
  );
});

testJoined("names the processes of a joined trace", async (page) => {
  await waitForText(page, ".trace-facts", "browser, server, prices");
  const tags = page.locator("#waterfall .tag");
  assertEquals(await tags.first().innerText(), "browser");
  const path = page.getByRole("group", { name: "Critical path" });
  await path.getByRole("button", { name: /^prices/ }).click();
  await waitForText(page, "#details h3", "SELECT price");
  await waitForText(page, "#details .tag", "prices");
});

testJoined(
  "shows web vitals, clocks and logs of a joined trace",
  async (page) => {
    const facts = page.locator(".trace-facts");
    for (
      const text of ["LCP 388 ms", "CLS 0.02", "INP 64.0 ms", "TTFB 84.0 ms"]
    ) {
      await facts.getByText(text).waitFor();
    }
    await waitForTexts(page, "#waterfall .axis .vital", ["LCP", "load"]);
    await page.getByRole("button", { name: "prices moved by +21.0 ms" })
      .click();
    await waitForText(page, "#details h3", "GET /quote");
    await waitForText(page, "#details", "+21.0 ms");
    const logs = page.getByRole("region", { name: "Logs" });
    await logs.getByText("WARN").waitFor();
    await logs.getByText("The price list is 26 hours old").waitFor();
  },
);

testJoined(
  "goes to the span that threw through groups, hidden layers and a zoom",
  async (page) => {
    const legend = page.getByRole("group", { name: "Layers" });
    await legend.getByRole("button", { name: /^rpc/ }).click();
    await waitForText(page, ".zoom-foot", "83 spans");
    await page.locator(".findings").getByText("3 errors").click();
    await waitForText(page, "#details h3", "rpc:stock.level");
    await waitForText(page, "#details", "RangeError: The level of product 14");
    await waitForText(page, "#waterfall .selected .label", "rpc:stock.level");
    await waitUntil(
      page,
      `(() => {
        const row = document.querySelector("#waterfall .selected").getBoundingClientRect();
        const grid = document.querySelector("#waterfall").getBoundingClientRect();
        return row.top >= grid.top + 24 && row.bottom <= grid.bottom;
      })()`,
    );
    for (
      const name of [
        "POST /api/rpc/stock.level",
        "fetch POST /api/rpc/stock.level",
        "rpc:stock.level",
      ]
    ) {
      await press(page, "e");
      await waitForText(page, "#details h3", name);
    }
    await press(page, "E");
    await waitForText(page, "#details h3", "fetch POST /api/rpc/stock.level");
  },
  { link: "&zoom=0-20" },
);

testJoined(
  "copies a place of a stack, and dims those of libraries",
  async (page) => {
    await press(page, "e");
    const stack = page.locator("#details .stack");
    await waitForTexts(page, "#details .stack .own button", [
      "file:///shop/data/stock.ts:41:11",
      "file:///shop/rpc/stock.ts:18:20",
    ]);
    assertEquals(await stack.locator(".foreign button").count(), 1);
    await page.evaluate(`globalThis.copied = "";
    Object.defineProperty(navigator, "clipboard", {
      value: { writeText: async (text) => { globalThis.copied = text; } },
    });`);
    await stack.getByText("stock.ts:41:11").click();
    await waitUntil(page, `globalThis.copied === "/shop/data/stock.ts:41:11"`);
  },
);

testJoined(
  "adds up repeated work over the whole trace in a table",
  async (page) => {
    await page.getByRole("button", { name: /^30 × SELECT level/ }).click();
    await waitForAddress(page, ({ view }) => view === "table");
    await waitForText(page, "#details h3", "db.query");
    const active = page.locator("#work-table .selected");
    await waitForValue(
      async () =>
        (await active.locator("[role=gridcell]").allInnerTexts())
          .map((text) => text.trim()),
      [
        "Statement",
        "SELECT level FROM stock WHERE product = ?",
        "30",
        "330 ms",
        "11.0 ms",
        "11.0 ms",
      ],
    );
    const names = page.locator("#work-table [data-row] .name");
    assertEquals((await names.allInnerTexts()).slice(0, 2), [
      "POST /api/rpc/stock.level",
      "stock.level",
    ]);
    await page.getByRole("columnheader", { name: "Count" }).getByRole("button")
      .click();
    await waitForText(
      page,
      "#work-table [data-row]:first-child",
      "SELECT level FROM stock",
    );
    // By keyboard: to the next row, and from there to its spans.
    await page.locator("#work-table").focus();
    await press(page, "j");
    await waitForText(page, "#work-table .cursor", "POST /api/rpc/stock.level");
    await press(page, "Enter");
    await waitForPlace(page, "trace");
    await waitForText(page, ".findings", "10 matches");
    // Its ten fetches, and their group.
    await waitForRows(page, "#waterfall .match", 11);
    await waitForText(
      page,
      "#waterfall .selected",
      "fetch POST /api/rpc/stock.level",
    );
    await waitForAddress(page, ({ view }) => view === "");
    await page.getByRole("button", { name: "Clear the highlight" }).click();
    await waitForRows(page, "#waterfall .match", 0);
  },
  { height: 2600 },
);

testJoined(
  "hides what is out of the zoomed range, and counts the rest",
  async (page) => {
    await waitForText(page, ".zoom-foot", "6 of 83 spans");
    const zoomed = [
      "page load /shop",
      "dom",
      "/shop.css",
      "GET /shop.css",
      "/shop.js",
      "GET /shop.js",
    ];
    await waitForNames(page, zoomed);
    await page.getByRole("button", { name: "Whole trace" }).click();
    await waitForText(page, "#waterfall [data-row]", "hydrate:Cart");
    await waitForAddress(page, ({ zoom }) => zoom === "");
    // By keyboard, and back with the same key as before.
    await page.locator("#waterfall").getByText("hydrate:Cart").click();
    await press(page, "z");
    await waitForAddress(page, ({ zoom }) => zoom === "238.9-263.1");
    await waitForNames(page, [
      "page load /shop",
      "dom",
      "hydrate:Cart",
      "long task",
    ]);
    await page.reload();
    await waitForText(page, ".zoom-foot", "4 of 83 spans");
    await press(page, "0");
    await waitForAddress(page, ({ zoom }) => zoom === "");
  },
  { link: "&zoom=100-200" },
);

testJoined(
  "shows a running subscription, and work outside of the total",
  async (page) => {
    const row = page.locator("#waterfall [data-row]", {
      hasText: "rpc:stock.changes",
    });
    assertEquals(await row.locator(".duration").innerText(), "running");
    await row.locator(".bar.running").waitFor();
    assert(!/failed/.test(await row.getAttribute("class") ?? ""));
    await row.locator(".label").click();
    await waitForText(page, "#details .facts", /Messages\s*42\s*5,310 bytes/);
    await waitForText(page, "#details .facts", /Running\s*when it was saved/);

    const late = page.locator("#waterfall [data-row]", {
      hasText: "web-vital INP",
    });
    await late.getByRole("img", { name: /^Goes on .* after/ }).waitFor();
    assertEquals(await late.locator(".bar").count(), 0);
    await page.getByRole("button", { name: /with later work/ }).click();
    await late.locator(".bar").waitFor();
    await waitForAddress(page, ({ zoom }) => zoom === "0-5264");
    await press(page, "0");
    await late.locator(".bar").waitFor({ state: "detached" });
  },
);

testJoined("lists the longest spans of the critical path", async (page) => {
  const summary = page.getByRole("group", { name: "Critical path" });
  await waitForValue(
    async () =>
      (await summary.locator(".finding").allInnerTexts())
        .map((text) => text.replace(/\s+/, " ")),
    [
      "browser 239 ms",
      "prices 220 ms",
      "request 135 ms",
      "database 33.0 ms",
      "rpc 15.0 ms",
    ],
  );
  await summary.getByText("Longest").click();
  await summary.getByRole("button", { name: "SELECT price" }).click();
  await waitForText(page, "#details h3", "SELECT price");
  await waitForText(page, "#details", "207 ms");
  await page.locator("#waterfall .on-path").first().waitFor();
  await press(page, "c");
  await waitForRows(page, "#waterfall .on-path", 0);
  await summary.waitFor({ state: "detached" });
});

testJoined(
  "resizes panes by keyboard and pointer, and remembers it",
  async (page) => {
    await press(page, "e");
    await page.locator("#details").waitFor();
    const sizeOf = async (selector: string, side: "width" | "height") =>
      Math.round((await page.locator(selector).boundingBox())![side]);
    const waitForSize = (
      selector: string,
      side: "width" | "height",
      size: number,
    ) => waitForValue(() => sizeOf(selector, side), size);
    for (
      const [name, selector, side, key] of [
        ["Size of the list", ".list-pane", "width", "ArrowRight"],
        ["Size of the details", "#details", "height", "ArrowUp"],
        [
          "Size of the span names",
          "#waterfall .grid-head .name",
          "width",
          "ArrowLeft",
        ],
      ] as const
    ) {
      const separator = page.getByRole("separator", { name });
      const before = await sizeOf(selector, side);
      await separator.focus();
      await press(page, key, key);
      const grown = key === "ArrowLeft" ? before - 32 : before + 32;
      await waitForSize(selector, side, grown);
      await waitUntil(
        page,
        `document.activeElement.getAttribute("aria-valuenow") === "${grown}"`,
      );
      await page.reload();
      await page.locator("#details").waitFor();
      await waitForSize(selector, side, grown);

      const box = (await separator.boundingBox())!;
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 20, y + 20, { steps: 4 });
      await page.mouse.up();
      const dragged = side === "height" ? grown - 20 : grown + 20;
      await waitForSize(selector, side, dragged);
      await separator.dblclick();
      await waitForSize(selector, side, before);
    }
  },
);

for (const { colorScheme, width } of LOOKS) {
  testJoined(
    `has no accessibility violation with a joined trace in ${colorScheme} at ${width} pixels`,
    async (page) => {
      await loadAxe(page);
      await press(page, "e");
      await page.locator("#details .stack").waitFor();
      await assertAccessible(page);
      await press(page, "s");
      await page.locator("#work-table [data-row]").first().waitFor();
      await assertAccessible(page);
      await press(page, "s", "Escape", "z");
      await page.emulateMedia({ colorScheme, forcedColors: "active" });
      await assertAccessible(page);
    },
    { colorScheme, width, height: 900 },
  );
}

testJoined(
  "keeps rows and details of a joined trace visible at 390 pixels",
  async (page) => {
    await press(page, "e");
    await page.locator("#details .stack").waitFor();
    await waitUntil(
      page,
      `document.documentElement.scrollWidth <= innerWidth &&
        document.querySelector("#waterfall").clientHeight >= 24 * 5`,
    );
    await press(page, "Escape");
    await page.getByText("Longest").click();
    await page.locator(".critical-summary ol").waitFor();
    const list = (await page.locator(".critical-summary ol").boundingBox())!;
    assert(list.x >= 0 && list.x + list.width <= 390);
  },
  { width: 390, height: 800 },
);

testJoined(
  "marks the critical path without color in forced colors",
  async (page) => {
    await page.emulateMedia({ forcedColors: "active" });
    const row = page.locator("#waterfall .on-path").first();
    const style = await row.evaluate((row) => {
      const { borderLeftWidth, borderLeftStyle } = getComputedStyle(row);
      const bar = getComputedStyle(row.querySelector(".bar.critical")!);
      return [borderLeftWidth, borderLeftStyle, bar.backgroundImage !== "none"];
    });
    assertEquals(style, ["3px", "solid", true]);
  },
);
