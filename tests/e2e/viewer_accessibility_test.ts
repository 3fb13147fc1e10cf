/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import axe from "axe-core";
import type { AxeResults, RunOptions } from "axe-core";
import { assertEquals } from "@std/assert";
import { generateViewerHTML } from "@quartet/kit/trace";
import { insertTraceData } from "../../trace/export/html.ts";
import { makeFolder } from "../dev/dev_command.ts";
import { sampleTraces } from "../viewer/sample_traces.ts";
import type { Page } from "./browser.ts";
import { startBrowser } from "./browser.ts";
import { assertQuiet, openViewer, waitUntil } from "./viewer_page.ts";

const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];

/** What the page shows, and how it gets there from a trace with an error. */
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
    await page.locator("#route-table [data-route]").first().waitFor();
  },
};

Deno.test("axe finds nothing serious", async (t) => {
  await using browser = await startBrowser();
  await using folder = await makeFolder();
  const empty = await generateViewerHTML([]);
  const text = JSON.stringify(sampleTraces({ count: 200 }));
  await folder.write(
    "traces.html",
    insertTraceData(empty, { encoding: "json", text }),
  );
  await folder.write("empty.html", empty);

  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 400]) {
      const options = { colorScheme, width, height: 900 };
      await t.step(`in ${colorScheme} at ${width} pixels`, async (t) => {
        await using view = await openViewer(
          browser,
          `file://${folder.path}/traces.html`,
          options,
        );
        const { page } = view;
        await prepare(page);
        await page.getByRole("button", { name: /^Filters/ }).or(
          page.getByLabel("Method"),
        ).first().click();
        await page.locator("#search").fill("Error");
        await page.locator("#trace-list .failed").first().click();
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
          await prepare(view.page);
          await view.page.locator("#empty h2").waitFor();
          await assertAccessible(view.page);
        },
      );
    }
  }
});

/** Brings axe into the page, past its policy as the developer's tools do. */
async function prepare(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  await waitUntil(page, `typeof axe === "object"`);
}

/** Checks that axe finds nothing that is serious or worse. */
async function assertAccessible(page: Page): Promise<void> {
  const options: RunOptions = {
    runOnly: STANDARDS,
    resultTypes: ["violations"],
  };
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, ${JSON.stringify(options)})`,
  );
  const serious = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.slice(0, 5).map(({ html, any }) =>
        `${html.slice(0, 200)}: ${any[0]?.message ?? ""}`
      ),
    }));
  assertEquals(serious, []);
}
