/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { assertEquals } from "@std/assert";
import { startBrowser } from "./browser.ts";
import type { Page } from "./browser.ts";
import {
  assertQuiet,
  openTrace,
  openViewer,
  startAtlas,
  type ViewerPage,
  waitForAddress,
  waitForCount,
  waitForText,
} from "./viewer_page.ts";

/** More selections than the viewer writes at once. */
const MANY = 120;

Deno.test("The viewer's address", async (t) => {
  await using browser = await startBrowser();

  /**
   * Runs a step with an open trace, and the ids of three spans below its root.
   */
  const step = (
    name: string,
    fn: (view: ViewerPage, ids: readonly string[]) => Promise<void>,
  ) =>
    t.step(name, async () => {
      await using atlas = startAtlas();
      await using view = await openViewer(browser, atlas.viewer);
      const root = atlas.tracer.startTrace("job:steps");
      const ids = ["first", "second", "third"].map((name) => {
        const span = root.child(`step:${name}`, "custom");
        span.end();
        return span.id;
      });
      root.end();
      await waitForCount(view.page, "1 trace");
      await openTrace(view.page, "job:steps");
      await view.page.locator(`#waterfall [data-row="${ids[2]}"]`).waitFor();
      await fn(view, ids);
      await assertQuiet(view);
    });

  await step(
    "keeps a selection when the page reloads in the same task",
    async ({ page }, ids) => {
      await leave(page, [ids[1]!], "location.reload()");
      await waitForText(page, "#details h3", "step:second");
    },
  );

  await step(
    "follows more selections than browsers allow a page to write",
    async ({ page }, ids) => {
      await page.evaluate(select(manyOf(ids)));
      await waitForAddress(page, ({ span }) => span === ids[1]);
      await page.reload();
      await waitForText(page, "#details h3", "step:second");
    },
  );

  await step(
    "is written before the page is left",
    async ({ page }, ids) => {
      await leave(page, manyOf(ids), `location.assign("about:blank")`);
      await page.goBack();
      await waitForText(page, "#details h3", "step:second");
    },
  );

  for (const event of ["pagehide", "visibilitychange", "blur", "copy"]) {
    await step(
      `is written on the ${event} event`,
      async ({ page }, ids) => {
        const written = await page.evaluate(
          `${select(manyOf(ids))};
           dispatchEvent(new Event("${event}"));
           location.hash`,
        );
        assertEquals(
          new URLSearchParams(String(written).slice(1)).get("span"),
          ids[1],
        );
      },
    );
  }

  await step(
    "is replaced by a link that opens before it is written",
    async ({ page }, ids) => {
      await page.evaluate(
        `${select(manyOf(ids))};
         location.hash = location.hash.replace(/&span=.*/, "&span=${ids[2]}");`,
      );
      await waitForText(page, "#details h3", "step:third");
      await waitForAddress(page, ({ span }) => span === ids[2]);
    },
  );
});

/** Returns code that clicks on the rows of spans. */
function select(ids: readonly string[]): string {
  return `for (const id of ${JSON.stringify(ids)}) {
    document.querySelector('#waterfall [data-row="' + id + '"] .label').click();
  }`;
}

/** Returns both spans in turn, many times, ending with the second. */
function manyOf([first, second]: readonly string[]): string[] {
  return Array.from({ length: MANY }, (_, i) => i % 2 ? second! : first!);
}

/** Selects spans and leaves the page in one task. */
async function leave(
  page: Page,
  ids: readonly string[],
  how: string,
): Promise<void> {
  const left = page.waitForEvent("framenavigated");
  const loaded = page.waitForEvent("load");
  // The page may be gone before it responds.
  await page.evaluate(`${select(ids)}; ${how}`).catch(() => {});
  await Promise.all([left, loaded]);
}
