/**
 * Stories of pages that work but are slow. Each is read in the viewer with at
 * most two clicks, from the list to the cause.
 *
 * @module
 */

import { shareBrowser } from "./browser.ts";
import { runStory } from "./stories/story.ts";
import { waitForCount, waitForText } from "./viewer_page.ts";

const browser = shareBrowser();

Deno.test("A slow page leads to its slow query in two clicks", async () => {
  await runStory(browser, "tests/e2e/stories/slow_page.ts", async (story) => {
    const { visitor, reader } = story;
    await visitor.goto(`${story.url}/report`);
    await reader.click(reader.endedRow(/page \/report/));

    // The largest share of the critical path is named first.
    const path = reader.part("group", "Critical path");
    await reader.click(path.getByRole("button").first());
    await reader.expects(
      reader.part("complementary", "Span details"),
      "LIKE",
      "product a",
      /Critical path.*% of the trace/,
    );
  });
});

Deno.test("Repeated queries are named with their statement and count, one click away", async () => {
  await runStory(
    browser,
    "tests/e2e/stories/repeated_query.ts",
    async (story) => {
      const { visitor, reader } = story;
      await visitor.goto(`${story.url}/orders`);
      const trace = reader.endedRow(/page \/orders/);
      await reader.click(reader.button(/^40× query$/, trace));
      const row = reader.part("grid", "Repeated work")
        .getByRole("row", { name: /SELECT name FROM customer WHERE id = \?/ });
      await reader.expects(row, "40");
    },
  );
});

Deno.test("A page with many fetches leads to the one that waits for a lock in two clicks", async () => {
  await runStory(
    browser,
    "tests/e2e/stories/many_fetches.ts",
    async (story) => {
      const { visitor, reader } = story;
      await visitor.goto(story.url);
      await waitForText(visitor, "ul", /shelf-10/);
      // The page, its script and the twelve fetches are one trace.
      const row = reader.endedRow(/page \/ 14 requests/);
      await row.waitFor();
      await waitForCount(reader.page, "1 trace");
      await reader.click(row);

      const path = reader.part("group", "Critical path");
      await reader.click(path.getByRole("button").first());
      await reader.expects(
        reader.part("complementary", "Span details"),
        "wait for the supplier's lock",
        /lock\.holder\s*(offers|stock)/,
        /Critical path.*% of the trace/,
      );
    },
  );
});
