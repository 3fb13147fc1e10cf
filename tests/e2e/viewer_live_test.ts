/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { assertEquals, assertMatch } from "@std/assert";
import { createTracer } from "@quartet/kit/trace";
import type { Finding } from "../../trace/finding.ts";
import { createFindings } from "../../dev/findings/findings.ts";
import { serveFindings } from "../../dev/findings/start.ts";
import { freePort } from "../helpers.ts";
import { assertAccessible, loadAxe } from "./accessibility.ts";
import { shareBrowser } from "./browser.ts";
import { traceWith } from "./client_page.ts";
import {
  assertQuiet,
  newViewerPage,
  openTrace,
  openViewer,
  recordFailure,
  selectSpan,
  startAtlas,
  waitForAddress,
  waitForCount,
  waitForPaths,
  waitForText,
  waitForTexts,
  walkByKeyboard,
} from "./viewer_page.ts";
import { ask, testViewer } from "./viewer_fixture.ts";

const browser = shareBrowser();

testViewer(
  browser,
  "shows another tab's requests as they arrive",
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
    // The row of the page names the call that matches.
    const search = "/api/rpc/countries.search";
    await page.getByLabel("Path contains").fill(search);
    await waitForText(page, "#trace-list .path", search);
    await openTrace(page, search);
    await selectSpan(page, "fetch GET /api/rpc");
    await waitForText(page, "#details header .tag", "browser");
    await selectSpan(page, "SELECT country");
    await waitForText(page, "#details", "LIKE");
    await assertQuiet(other);
  },
);

testViewer(
  browser,
  "works by keyboard alone",
  async ({ page }, atlas) => {
    await ask(atlas, "/countries/fra", "/countries/deu");
    recordFailure(atlas.tracer);
    await waitForCount(page, "3 traces");
    await walkByKeyboard(page);
    await page.keyboard.press("p");
    await waitForText(page, "#connection", "Paused");
  },
);

Deno.test("The viewer removes a running request that isn't kept", async () => {
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

Deno.test(
  "The viewer reports a lost connection, and continues after reconnecting",
  async () => {
    await using browserPage = await newViewerPage(browser);
    const { page } = browserPage;
    const port = freePort();
    const first = startAtlas({ port });
    try {
      await page.goto(first.viewer);
      await ask(first, "/countries/fra");
      await waitForCount(page, "1 trace");
    } finally {
      await first[Symbol.asyncDispose]();
    }
    await waitForText(page, "#connection", "Disconnected");
    // Existing traces remain readable.
    await openTrace(page, "/countries/fra");
    await using second = startAtlas({ port });
    // The page may have reconnected by itself before the click.
    const retry = page.getByRole("button", { name: "Retry now" })
      .click({ timeout: 2_000 }).catch(() => {});
    await waitForText(page, "#connection", "Live");
    await retry;
    await ask(second, "/countries/deu");
    await waitForPaths(page, ["/countries/deu", "/countries/fra"]);
    assertEquals(await browserPage.violations(), []);
    assertEquals(browserPage.foreignRequests, []);
    for (const error of browserPage.errors) {
      assertMatch(error, /^WebSocket connection to '\S+' failed: /);
    }
  },
);

Deno.test("The viewer lists causes as the dev command finds them, and opens their evidence", async () => {
  const tracer = createTracer();
  const findings = createFindings(tracer);
  serveFindings(tracer, findings);
  await using atlas = startAtlas({ tracer });
  await using view = await openViewer(browser, atlas.viewer);
  const { page } = view;
  await waitForText(page, "#connection", "Live");
  const addQueries = (count: number) =>
    tracer.withSpan("import", "custom", (root) => {
      for (let i = 0; i < count; i++) {
        root.child("db.query", "database", {
          "db.query.text": `SELECT name FROM post WHERE id = ${i}`,
          "code.file.path": `${Deno.cwd()}/posts.ts`,
          "code.line.number": 41,
        }).end();
      }
    });
  addQueries(4);
  await waitForCount(page, "1 trace");
  await page.getByRole("tab", { name: "Findings (0)" }).click();
  await waitForText(page, "#found-table", "Nothing found");
  addQueries(12);
  await page.getByRole("tab", { name: "Findings (1)" }).waitFor();
  const row = page.locator("#found-table [data-row]");
  assertEquals(
    await row.locator(":not(.time)[role=gridcell]").allInnerTexts(),
    [
      "repeated-query",
      "12 × SELECT … FROM post WHERE id = ?",
      "posts.ts:41",
      "import",
      "1",
    ],
  );
  await loadAxe(page);
  await assertAccessible(page);

  const [{ traceId, spanIds }] = findings.list() as [Finding];
  await row.click();
  await waitForAddress(
    page,
    ({ trace, span }) => trace === traceId && span === spanIds[0],
  );
  await waitForText(page, "#details header", "db.query");
  await waitForText(page, ".trace-header .finding", "posts.ts:41");
  // It stays in place below the pointer while traces arrive.
  const chip = page.locator(".trace-header .finding");
  await chip.evaluate((chip) => chip.setAttribute("data-seen", ""));
  addQueries(12);
  await waitForTexts(page, "#found-table [data-row] .count", ["2"]);
  assertEquals(await page.locator(".finding[data-seen]").count(), 1);
  // Without a pointer, too.
  await page.goBack();
  await page.locator("#details").waitFor({ state: "detached" });
  await page.locator("#found-table").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await waitForText(page, "#details header", "db.query");
  await assertQuiet(view);
  findings.close();
});
