/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { assert, assertEquals, assertMatch } from "@std/assert";
import { createTracer, serializeTrace } from "@quartet/kit/trace";
import { toOTLP } from "../../trace/export/otlp.ts";
import { makeFolder } from "../dev/dev_command.ts";
import { sampleTraces } from "../viewer/sample_traces.ts";
import { type Page, shareBrowser } from "./browser.ts";
import { traceWith } from "./client_page.ts";
import { findFixedPort } from "./fixed_port.ts";
import {
  assertQuiet,
  listedPaths,
  newViewerPage,
  openTrace,
  openViewer,
  recordFailure,
  selectSpan,
  startAtlas,
  type TracedAtlas,
  type ViewerPage,
  waitForAddress,
  waitForCount,
  waitForPaths,
  waitForPlace,
  waitForRows,
  waitForText,
  waitUntil,
  walkByKeyboard,
} from "./viewer_page.ts";

const browser = shareBrowser();

/** Tests with an Atlas and an open viewer that must complain of nothing. */
function testViewer(
  name: string,
  fn: (view: ViewerPage, atlas: TracedAtlas) => Promise<void>,
): void {
  Deno.test(`the viewer ${name}`, async () => {
    await using atlas = startAtlas();
    await using view = await openViewer(browser, atlas.viewer);
    await waitForText(view.page, "#connection", "Live");
    await fn(view, atlas);
    await assertQuiet(view);
  });
}

testViewer(
  "shows the requests of another tab as they come",
  async (view, atlas) => {
    const { page } = view;
    await waitForText(page, "#empty", "Waiting for the first request");
    await using other = await newViewerPage(browser);
    await other.page.goto(`${atlas.url}/countries/fra`);
    await waitForText(page, "#trace-list .path", "/countries/fra");
    await openTrace(page, "/countries/fra");

    await selectSpan(page, "SELECT country");
    await waitForText(page, "#details header", "database");
    const statement = page.getByRole("region", { name: "Statement" });
    assertMatch(await statement.innerText(), /SELECT \*\s+FROM country/);
    const before = await waitForAddress(page, ({ span }) => span !== "");

    await selectSpan(page, "page:load");
    await waitForText(page, "#details header .tag", "browser");
    await waitForAddress(
      page,
      ({ trace, span }) => trace === before.trace && span !== before.span,
    );

    await other.page.goto(`${atlas.url}/`);
    await traceWith(atlas.tracer, "hydrate:Search");
    await Promise.all([
      other.page.waitForResponse(/\/api\/rpc\?/),
      other.page.locator("#q").fill("ger"),
    ]);
    const search = "/api/rpc/countries.search";
    await waitForText(page, "#trace-list .path", search);
    await openTrace(page, search);
    await selectSpan(page, "fetch GET /api/rpc");
    await waitForText(page, "#details header .tag", "browser");
    await selectSpan(page, "SELECT country");
    await waitForText(page, "#details", "LIKE");
    await assertQuiet(other);
  },
);

testViewer("filters and searches", async (view, atlas) => {
  const { page } = view;
  await ask(atlas, "/countries/fra", "/countries/nowhere", "/nowhere");
  await ask(atlas, "/?q=ger");
  recordFailure(atlas.tracer);
  await waitForCount(page, "5 traces");
  const all = [
    "job:report",
    "/",
    "/nowhere",
    "/countries/nowhere",
    "/countries/fra",
  ];
  await waitForPaths(page, all);
  const clear = async () => {
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await waitForPaths(page, all);
  };

  await page.getByLabel("Method").selectOption("GET");
  await waitForPaths(page, all.slice(1));
  await waitForCount(page, "4 of 5 traces");
  await clear();
  await page.getByRole("button", { name: "Status 4xx" }).click();
  await waitForPaths(page, ["/nowhere", "/countries/nowhere"]);
  await page.getByRole("button", { name: "Status 2xx" }).click();
  await waitForPaths(page, all.slice(1));
  await clear();
  await page.getByLabel("Path contains").fill("COUNTRIES");
  await waitForPaths(page, ["/countries/nowhere", "/countries/fra"]);
  await clear();
  await page.getByLabel("Layer").selectOption("routing");
  await waitForPaths(page, all.slice(1));
  await clear();
  await page.getByRole("button", { name: "Errors only" }).click();
  await waitForPaths(page, ["job:report"]);
  await clear();
  await page.getByLabel("Minimum duration in milliseconds").fill("9999999");
  await waitForText(page, "#trace-list", "No trace matches.");
  await page.getByRole("button", { name: "Show all" }).click();
  await waitForPaths(page, all);

  for (
    const [text, paths] of [
      ["loader:/countries", ["/countries/nowhere", "/countries/fra"]],
      ["FROM BORDER", ["/countries/fra"]],
      ["first step went wrong", ["job:report"]],
    ] as const
  ) {
    await page.locator("#search").fill(text);
    await waitForPaths(page, paths);
  }
  await openTrace(page, "job:report");
  await page.getByRole("button", { name: "1 match", exact: true }).click();
  await waitForText(page, "#details mark", "first step went wrong");
  await page.locator("#search").fill("nothing has this");
  await waitForText(page, "#trace-list", "No trace matches.");
  await clear();
});

testViewer("sorts by any column", async (view, atlas) => {
  const { page } = view;
  await ask(atlas, "/countries/fra", "/countries/deu", "/?q=z");
  await waitForPaths(page, ["/", "/countries/deu", "/countries/fra"]);
  const head = page.getByRole("columnheader", { name: "Path" });
  const isSorted = (how: string) =>
    head.and(page.locator(`[aria-sort=${how}]`)).waitFor();
  await head.getByRole("button").click();
  await isSorted("ascending");
  await waitForPaths(page, ["/", "/countries/deu", "/countries/fra"]);
  await head.getByRole("button").click();
  await isSorted("descending");
  await waitForPaths(page, ["/countries/fra", "/countries/deu", "/"]);
  await page.getByRole("columnheader", { name: "Time" }).getByRole("button")
    .click();
  await waitForPaths(page, ["/", "/countries/deu", "/countries/fra"]);
});

testViewer(
  "holds new traces back while the tail is paused",
  async (view, atlas) => {
    const { page } = view;
    await ask(atlas, "/countries/fra");
    await waitForCount(page, "1 trace");
    const pause = page.getByRole("button", { name: "Pause the live tail" });
    await pause.click();
    await waitForText(page, "#connection", "Paused");
    await ask(atlas, "/countries/deu", "/countries/ita");
    await waitForText(page, "#connection", "2 new");
    assertEquals(await listedPaths(page), ["/countries/fra"]);
    await pause.click();
    await waitForPaths(page, [
      "/countries/ita",
      "/countries/deu",
      "/countries/fra",
    ]);
    await waitForText(page, "#connection", "Live");
  },
);

testViewer(
  "moves no row under a reader who has scrolled",
  async (view, atlas) => {
    const { page } = view;
    for (let i = 0; i < 60; i++) atlas.tracer.startTrace(`job:${i}`).end();
    await waitForCount(page, "60 traces");
    const list = page.locator("#trace-list");
    await list.evaluate((list) => list.scrollTop = 700);
    // The page has handled the event once the rows above are gone.
    await page.locator("[data-row]", { hasText: "job:59" })
      .waitFor({ state: "detached" });
    await page.locator("[data-row]", { hasText: "job:25" }).hover();
    const before = await listedPaths(page);
    await ask(atlas, "/countries/fra", "/countries/deu");
    await waitForText(page, ".new-pill", "2 new");
    assertEquals(await listedPaths(page), before);
    await page.locator(".new-pill").click();
    await waitForCount(page, "62 traces");
    await waitForText(page, "#trace-list .path", "/countries/deu");
    assertEquals(await list.evaluate((list) => list.scrollTop), 0);
    await page.locator(".new-pill").waitFor({ state: "detached" });
  },
);

testViewer("counts each route, and shows its traces", async (view, atlas) => {
  const { page } = view;
  await ask(atlas, "/countries/fra", "/countries/deu", "/countries/nowhere");
  await ask(atlas, "/?q=a");
  await waitForCount(page, "4 traces");
  await page.locator("#tab-routes").click();
  const row = page.locator("#route-table [data-row]").first();
  assertMatch(
    (await row.innerText()).replace(/\s+/g, " "),
    /^GET \/countries\/:code 3 (\S+ [mµ]s ){4}0 %$/,
  );
  await row.click();
  await waitForPaths(page, [
    "/countries/nowhere",
    "/countries/deu",
    "/countries/fra",
  ]);
  await page.getByRole("button", { name: /^Remove the filter on route/ })
    .click();
  await waitForCount(page, "4 traces");
});

testViewer("can be walked by keyboard alone", async ({ page }, atlas) => {
  await ask(atlas, "/countries/fra", "/countries/deu");
  recordFailure(atlas.tracer);
  await waitForCount(page, "3 traces");
  await walkByKeyboard(page);
  await page.keyboard.press("p");
  await waitForText(page, "#connection", "Paused");
});

testViewer("compares two traces", async ({ page }, atlas) => {
  await ask(atlas, "/countries/nowhere", "/countries/fra");
  await waitForCount(page, "2 traces");
  await openTrace(page, "/countries/nowhere");
  await page.getByRole("button", { name: "Compare" }).click();
  await openTrace(page, "/countries/fra");
  await page.getByRole("button", { name: "Compare with marked" }).click();
  const spans = page.locator("#compare-spans");
  await spans.waitFor();
  const sides = page.locator(".compare-header .side-path");
  assertEquals(await sides.allInnerTexts(), [
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
  "compares repeated spans as one, and tells of each",
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

    // Which of both was clicked is the one that is told of, also by a link.
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
  "keeps the selected row in view as its details open",
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
  "marks what failed in the flame graph",
  async ({ page }, atlas) => {
    recordFailure(atlas.tracer);
    await waitForCount(page, "1 trace");
    await openTrace(page, "job:report");
    await page.keyboard.press("f");
    await waitForText(page, "#flame-told", /^job:report: /);
    await page.locator("#flame").focus();
    const told = page.locator("#flame-told");
    // Frames stand in the order of their times: the steps may come second.
    for (const key of ["ArrowDown", "ArrowRight"]) {
      const before = await told.innerText();
      await page.keyboard.press(key);
      await told.filter({ hasNotText: before }).waitFor();
      if (/^step:/.test(await told.innerText())) break;
    }
    await waitForText(page, "#flame-told", /^step:.*; 1 failed$/);
  },
);

testViewer("draws a flame graph", async ({ page }, atlas) => {
  recordFailure(atlas.tracer);
  await waitForCount(page, "1 trace");
  await openTrace(page, "job:report");
  await page.getByRole("button", { name: "Flame graph" }).click();
  const flame = page.locator("#flame");
  await waitForText(page, "#flame-told", /^job:report: .*100 %/);
  // Frames can be clicked on once they are drawn, in some colours.
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

testViewer("hides layers, groups, and zooms", async ({ page }, atlas) => {
  recordFailure(atlas.tracer);
  await waitForCount(page, "1 trace");
  await openTrace(page, "job:report");
  await waitForRows(page, "#waterfall [data-row]", 4);
  await page.getByRole("button", { name: "Group", exact: true }).click();
  await waitForRows(page, "#waterfall [data-row]", 15);
  const layers = page.getByRole("group", { name: "Layers" });
  await layers.getByRole("button", { name: /^database/ }).click();
  await waitForRows(page, "#waterfall [data-row]", 3);
  const tick = page.locator("#waterfall .axis .tick").last();
  const whole = await tick.innerText();
  const overview = (await page.getByRole("group", { name: "Overview" })
    .boundingBox())!;
  await page.mouse.move(overview.x + overview.width / 4, overview.y + 9);
  await page.mouse.down();
  await page.mouse.move(overview.x + overview.width / 2, overview.y + 9);
  await page.mouse.up();
  await tick.filter({ hasNotText: whole }).waitFor();
  await page.keyboard.press("0");
  await waitForText(page, "#waterfall .axis .tick", whole);
});

testViewer("opens what a link says, and goes back", async (view, atlas) => {
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
});

testViewer(
  "follows a link that comes right after a click",
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

Deno.test("the viewer asks the server for a linked trace that is old", async () => {
  const tracer = createTracer({ maxTraces: 1_100 });
  for (let i = 0; i < 1_100; i++) tracer.startTrace(`job:${i}`).end();
  await using atlas = startAtlas({ tracer });
  const [oldest] = tracer.getTraces();
  await using view = await newViewerPage(browser);
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  await view.page.route("**/api?traceId=*", async (route) => {
    asked.resolve();
    await answer.promise;
    await route.continue();
  });
  await view.page.goto(`${atlas.viewer}#trace=${oldest!.id}`);
  await asked.promise;
  await waitForCount(view.page, "1,000 traces");
  await waitForText(view.page, ".trace-pane", "Looking for the trace");
  answer.resolve();
  await waitForText(view.page, ".trace-header h2", "job:0");
  await waitForCount(view.page, "1,001 traces");
  await assertQuiet(view);
});

Deno.test("the viewer says that a linked trace is not there", async () => {
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

Deno.test("the viewer forgets a running request that isn't kept", async () => {
  const tracer = createTracer({ minDurationMs: 60_000 });
  await using atlas = startAtlas({ tracer });
  await using view = await openViewer(browser, atlas.viewer);
  const { page } = view;
  await waitForText(page, "#connection", "Live");
  const root = tracer.startTrace("job:short");
  await waitForText(page, "#trace-list .pending", "job:short");
  await waitForCount(page, "0 traces · 1 running");
  root.end();
  await waitForText(page, "#empty", "Waiting for the first request");
  await waitForCount(page, "0 traces");
  await assertQuiet(view);
});

testViewer(
  "takes files from the dialog and by drop",
  async ({ page }, atlas) => {
    await using folder = await makeFolder();
    const traces = sampleTraces({ count: 6, seed: 5 });
    const open = async (name: string, text: string) => {
      await folder.write(name, text);
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Open files" }).first().click();
      await (await chooser).setFiles(`${folder.path}/${name}`);
    };
    await open("two.json", JSON.stringify(traces.slice(0, 2)));
    await waitForText(page, ".notice", "Added 2 traces from two.json.");
    await waitForCount(page, "2 traces");
    await open("one.otlp.json", JSON.stringify(toOTLP(traces.slice(2, 3))));
    await waitForText(page, ".notice", "Added 1 trace from one.otlp.json.");
    await waitForCount(page, "3 traces");
    await open("broken.json", `[{"id": 1`);
    await waitForText(page, ".notice.failed", "broken.json: Cannot read");
    await page.getByRole("button", { name: "Close the message" }).click();
    await open("empty.json", "[]");
    await waitForText(page, ".notice.failed", "empty.json holds no traces.");

    await drop(page, {
      "one.json": JSON.stringify(traces[3]),
      "lines.jsonl": traces.slice(4).map((trace) =>
        JSON.stringify(toOTLP([trace]))
      ).join("\n"),
    });
    await waitForText(page, ".notice", "Added 1 trace from one.json.");
    await waitForText(page, ".notice", "Added 2 traces from lines.jsonl.");
    await waitForCount(page, "6 traces");

    // Requests still come in live.
    await ask(atlas, "/countries/fra");
    await waitForCount(page, "7 traces");
    await openTrace(page, "/countries/fra");
  },
);

testViewer(
  "saves traces in four formats, and reads its own",
  async (view, atlas) => {
    const { page } = view;
    await using folder = await makeFolder();
    await ask(atlas, "/countries/fra", "/countries/deu");
    recordFailure(atlas.tracer);
    await waitForCount(page, "3 traces");
    const save = async (group: RegExp, format: string) => {
      await page.locator("#export").click();
      const download = page.waitForEvent("download");
      await page.getByRole("group", { name: group })
        .getByRole("menuitem", { name: format }).click();
      const file = await download;
      const path = `${folder.path}/${file.suggestedFilename()}`;
      await file.saveAs(path);
      return { path, text: await Deno.readTextFile(path) };
    };
    const all = /^All listed: 3 traces$/;
    const json = await save(all, "JSON .json");
    assertMatch(json.path, /\/traces\.json$/);
    const serialized = atlas.tracer.getTraces().map(serializeTrace);
    assertEquals(
      JSON.parse(json.text).toSorted(byStart),
      JSON.parse(JSON.stringify(serialized)).toSorted(byStart),
    );
    const otlp = await save(all, "OTLP/JSON");
    assert(Array.isArray(JSON.parse(otlp.text).resourceSpans));
    const chrome = await save(all, "Chrome trace");
    assert(Array.isArray(JSON.parse(chrome.text).traceEvents));
    const html = await save(all, "HTML page");
    assertMatch(html.text, /^<!DOCTYPE html>/);

    await openTrace(page, "job:report");
    const one = await save(/^This trace$/, "HTML page");
    assertMatch(one.path, /\/trace-[0-9a-f]{8}\.html$/);

    for (
      const [file, count] of [[json, 3], [otlp, 3], [html, 3], [
        one,
        1,
      ]] as const
    ) {
      await using other = await openViewer(browser, atlas.viewer);
      await waitForCount(other.page, "3 traces");
      await using empty = startAtlas();
      await other.page.goto(empty.viewer);
      await waitForText(other.page, "#connection", "Live");
      const name = file.path.split("/").at(-1)!;
      await drop(other.page, { [name]: file.text });
      await waitForCount(
        other.page,
        count === 1 ? "1 trace" : `${count} traces`,
      );
      await openTrace(other.page, "job:report");
      await waitForRows(other.page, "#waterfall [data-row]", 4);
    }
  },
);

testViewer("copies a span and its request", async ({ page }, atlas) => {
  await page.context().grantPermissions([
    "clipboard-read",
    "clipboard-write",
  ]);
  await ask(atlas, "/countries/fra?x=1");
  await waitForCount(page, "1 trace");
  await openTrace(page, "/countries/fra");
  await selectSpan(page, "GET /countries/fra");
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  await waitForText(page, ".notice", /^Copied/);
  const span = JSON.parse(
    await page.evaluate("navigator.clipboard.readText()"),
  );
  assertEquals(span.name, "GET /countries/fra");
  await page.keyboard.press("Y");
  await waitForText(page, ".notice", /curl/);
  assertMatch(
    await page.evaluate("navigator.clipboard.readText()"),
    new RegExp(`^curl .*${atlas.url}/countries/fra`),
  );
});

Deno.test(
  "the viewer copies where browsers have no clipboard for pages",
  async () => {
    await using atlas = startAtlas();
    recordFailure(atlas.tracer);
    await using view = await newViewerPage(browser);
    const { page } = view;
    await page.context().grantPermissions([
      "clipboard-read",
      "clipboard-write",
    ]);
    // As on a page that came by plain HTTP from another machine.
    await page.addInitScript(() =>
      Object.defineProperty(globalThis, "isSecureContext", { value: false })
    );
    await page.goto(atlas.viewer);
    await waitForCount(page, "1 trace");
    await openTrace(page, "job:report");
    await page.locator("#waterfall").focus();
    await page.keyboard.press("y");
    await waitForText(page, ".notice", "Copied the trace as JSON.");
    const text = await page.evaluate<string>(
      "navigator.clipboard.readText()",
    );
    assertEquals(JSON.parse(text).spans.length, 15);
    await waitForPlace(page, "trace");
    await page.evaluate("document.execCommand = () => false");
    await page.keyboard.press("y");
    await waitForText(page, ".notice.failed", "doesn't let this page copy");
    await assertQuiet(view);
  },
);

Deno.test(
  "the viewer says when the server is gone, and goes on when it is back",
  async () => {
    await using browserPage = await newViewerPage(browser);
    const { page } = browserPage;
    const port = findFixedPort();
    const first = startAtlas({ port });
    try {
      await page.goto(first.viewer);
      await ask(first, "/countries/fra");
      await waitForCount(page, "1 trace");
    } finally {
      await first[Symbol.asyncDispose]();
    }
    await waitForText(page, "#connection", "Disconnected");
    // What was there can still be read.
    await openTrace(page, "/countries/fra");
    await using second = startAtlas({ port });
    await Promise.any([
      page.getByRole("button", { name: "Retry now" }).click(),
      waitForText(page, "#connection", "Live"),
    ]);
    await waitForText(page, "#connection", "Live");
    await ask(second, "/countries/deu");
    await waitForPaths(page, ["/countries/deu", "/countries/fra"]);
    assertEquals(await browserPage.violations(), []);
    assertEquals(browserPage.foreignRequests, []);
    for (const error of browserPage.errors) {
      assertMatch(error, /^WebSocket connection to '\S+' failed: /);
    }
  },
);

/** Makes requests, one after the other. */
async function ask(atlas: TracedAtlas, ...paths: string[]): Promise<void> {
  for (const path of paths) {
    const response = await fetch(atlas.url + path);
    await response.body?.cancel();
  }
}

/** Drops files on the page. */
async function drop(page: Page, files: Record<string, string>): Promise<void> {
  await page.evaluate((files) => {
    const data = new DataTransfer();
    for (const [name, text] of Object.entries(files)) {
      data.items.add(new File([text], name));
    }
    for (const type of ["dragover", "drop"]) {
      document.body.dispatchEvent(
        new DragEvent(type, {
          dataTransfer: data,
          bubbles: true,
          cancelable: true,
        }),
      );
    }
  }, files);
}

function byStart(a: { startTime: number }, b: { startTime: number }): number {
  return a.startTime - b.startTime;
}
