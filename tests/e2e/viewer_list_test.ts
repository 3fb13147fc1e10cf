/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import { shareBrowser } from "./browser.ts";
import {
  listedPaths,
  openTrace,
  recordFailure,
  waitForCount,
  waitForPaths,
  waitForPlace,
  waitForText,
  waitForValue,
} from "./viewer_page.ts";
import { ask, testViewer } from "./viewer_fixture.ts";

const browser = shareBrowser();

testViewer(browser, "filters and searches", async (view, atlas) => {
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

testViewer(browser, "sorts by any column", async (view, atlas) => {
  const { page } = view;
  await ask(atlas, "/countries/fra", "/countries/deu", "/?q=z");
  await waitForPaths(page, ["/", "/countries/deu", "/countries/fra"]);
  const kind = page.getByRole("columnheader", { name: "Kind" });
  assertMatch((await kind.getAttribute("title"))!, /^Page load, /);
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
  browser,
  "holds new traces back while the live tail is paused",
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
  browser,
  "keeps rows in place for a reader who has scrolled",
  async (view, atlas) => {
    const { page } = view;
    for (let i = 0; i < 60; i++) atlas.tracer.startTrace(`job:${i}`).end();
    await waitForCount(page, "60 traces");
    const list = page.locator("#trace-list");
    await list.evaluate((list) => list.scrollTop = 700);
    // Once the rows above are gone, the page has handled the event.
    await page.locator("[data-row]", { hasText: "job:59" })
      .waitFor({ state: "detached" });
    await page.locator("[data-row]", { hasText: "job:25" }).hover();
    const before = await listedPaths(page);
    await ask(atlas, "/countries/fra", "/countries/deu");
    await waitForText(page, ".new-pill", "2 new");
    assertEquals(await listedPaths(page), before);
    // A click would scroll to it.
    const isInView = await page.locator(".new-pill").evaluate((pill) => {
      const { top, bottom } = pill.getBoundingClientRect();
      return top > 0 && bottom < innerHeight;
    });
    assert(isInView, "the number of new traces is in view");
    await page.locator(".new-pill").click();
    await waitForCount(page, "62 traces");
    await waitForText(page, "#trace-list .path", "/countries/deu");
    await waitForValue(() => list.evaluate((list) => list.scrollTop), 0);
    await page.locator(".new-pill").waitFor({ state: "detached" });
  },
);

testViewer(
  browser,
  "counts requests per route, and shows a route's traces",
  async (view, atlas) => {
    const { page } = view;
    await ask(atlas, "/countries/fra", "/countries/deu", "/countries/nowhere");
    await ask(atlas, "/?q=a");
    await waitForCount(page, "4 traces");
    await page.locator("#tab-routes").click();
    const row = page.locator("#route-table [data-row]").first();
    assertMatch(
      (await row.innerText()).replace(/\s+/g, " "),
      /^GET \/countries\/:code 3 (\S+ [mµ]s ){4}0 % Spans Slowest$/,
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
  },
);

testViewer(
  browser,
  "searches for what is typed right after another key",
  async ({ page }, atlas) => {
    await ask(atlas, "/countries/fra");
    await waitForCount(page, "1 trace");
    await page.locator("#trace-list").focus();
    // As fast as events can come: `t` and `x` are keys of the page, too.
    await page.evaluate(() => {
      for (const key of ["r", "/"]) {
        document.activeElement!.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true }),
        );
      }
    });
    await page.locator("#route-table").waitFor();
    await page.keyboard.type("text");
    assertEquals(await page.locator("#search").inputValue(), "text");
    assertEquals(
      await page.evaluate("document.documentElement.dataset.theme"),
      "system",
    );
  },
);

testViewer(browser, "has an icon that its policy allows", async ({ page }) => {
  const href = await page.locator("head link[rel=icon]").getAttribute("href");
  const width = await page.evaluate(async (href) => {
    const image = new Image();
    image.src = href!;
    await image.decode();
    return image.naturalWidth;
  }, href);
  assertNotEquals(width, 0);
});

testViewer(
  browser,
  "moves no row while the pointer or the keyboard is in the list",
  async ({ page }, atlas) => {
    const { tracer } = atlas;
    tracer.startTrace("job:first").end();
    await waitForPaths(page, ["job:first"]);
    const pill = page.locator(".new-pill");

    await page.locator("#trace-list .path").first().hover();
    const running = tracer.startTrace("job:second");
    await waitForText(page, ".new-pill", "1 new");
    running.end();
    tracer.startTrace("job:third").end();
    await waitForText(page, ".new-pill", "2 new");
    assertEquals(await listedPaths(page), ["job:first"]);
    await page.mouse.move(1, 1);
    await waitForPaths(page, ["job:third", "job:second", "job:first"]);
    await pill.waitFor({ state: "detached" });

    await page.locator("#tab-traces").focus();
    await page.keyboard.press("j");
    await waitForPlace(page, "list");
    await page.keyboard.press("j");
    tracer.startTrace("job:fourth").end();
    await waitForText(page, ".new-pill", "1 new");
    await pill.click();
    await waitForPaths(page, [
      "job:fourth",
      "job:third",
      "job:second",
      "job:first",
    ]);
  },
);

testViewer(
  browser,
  "lists what a search finds later while the pointer is in the list",
  async ({ page }, { tracer }) => {
    for (const name of ["a", "b", "wanted", "c", "d"]) {
      tracer.startTrace(`job:${name}`).end();
    }
    await waitForCount(page, "5 traces");
    await page.locator("#trace-list [data-row]").first().hover();
    await page.evaluate(() => {
      // Each trace takes a slice of its own, and the page draws in between.
      let now = performance.now();
      performance.now = () => now += 3;
      globalThis.setTimeout = ((run: () => void) =>
        requestAnimationFrame(() =>
          requestAnimationFrame(run)
        )) as typeof setTimeout;
      // Focus would read the traces before there is a query.
      const search = document.querySelector<HTMLInputElement>("#search")!;
      search.value = "job:wanted";
      search.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await waitForPaths(page, ["job:wanted"]);
  },
);

testViewer(
  browser,
  "keeps the place of a running request that ends under the pointer",
  async ({ page }, atlas) => {
    const { tracer } = atlas;
    tracer.startTrace("job:first").end();
    const running = tracer.startTrace("job:running");
    await waitForText(page, "#trace-list .pending", "job:running");
    await waitForText(page, "#trace-list .pending .badge", "running");
    await page.locator("#trace-list [data-row]").last().hover();
    running.child("step", "custom").end();
    running.end();
    await page.locator("#trace-list .pending").waitFor({ state: "detached" });
    assertEquals(await listedPaths(page), ["job:running", "job:first"]);
  },
);

testViewer(
  browser,
  "opens a trace at what its badges say",
  async ({ page }, atlas) => {
    await ask(atlas, "/countries/fra");
    recordFailure(atlas.tracer);
    await waitForCount(page, "2 traces");
    const row = page.locator("#trace-list [data-row]", { hasText: "job:" });
    await row.getByRole("button", { name: "2 errors" }).click();
    await waitForText(
      page,
      "#details",
      "RangeError: The first step went wrong",
    );
    await page.getByRole("button", { name: "Close the trace" }).click();
    await row.getByRole("button", { name: "12× query" }).click();
    await waitForText(page, "#work-table", "SELECT name FROM user");
    await page.getByRole("button", { name: "Close the trace" }).click();

    // Tab reaches the badges of the current row.
    await page.locator("#trace-list").focus();
    await page.keyboard.press("g");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await waitForText(page, "#details h3", "step:first");
  },
);
