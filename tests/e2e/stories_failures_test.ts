/**
 * Stories of pages that fail. Each is read in the viewer with at most two
 * clicks, from the list to the cause.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { shareBrowser } from "./browser.ts";
import { startBreakingProxy } from "./stories/breaking_proxy.ts";
import { runStory } from "./stories/story.ts";
import { waitForText } from "./viewer_page.ts";

const browser = shareBrowser();

Deno.test("A failing request leads to the span that threw in one click", async () => {
  await runStory(
    browser,
    "tests/e2e/stories/failing_request.ts",
    async (story) => {
      const { visitor, reader } = story;
      await visitor.goto(`${story.url}/cart`);
      await waitForText(visitor, "output", "3 things");
      await visitor.getByRole("button", { name: "Check out" }).click();
      await waitForText(visitor, "output", "Something went wrong");

      const row = reader.endedRow(/button "Check out"/);
      await reader.click(reader.button(/^\d errors$/, row));
      await reader.expects(
        reader.part("complementary", "Span details"),
        "tax rate",
        "RangeError: No tax rate for the region west",
        "failing_request.ts",
      );
    },
  );
});

Deno.test("A flaky subscription shows why it was opened again each time", async () => {
  await runStory(
    browser,
    "tests/e2e/stories/flaky_subscription.ts",
    async (story) => {
      const { visitor, reader } = story;
      using proxy = startBreakingProxy(Number(new URL(story.url).port));
      await visitor.goto(`${proxy.url}/prices`);
      await waitForText(visitor, "output", "price 1");
      assertEquals(proxy.breakSockets("/api/rpc"), 1);
      await waitForText(visitor, "output", "price 3");

      await reader.click(reader.row(/page \/prices/));
      const spans = reader.part("treegrid", "Spans");
      for (
        const text of [
          /rpc:prices.*closed with 1006/,
          /websocket \/api\/rpc.*after code 1006/,
          /rpc:prices.*failed/,
          /rpc:prices.*running/,
        ]
      ) await spans.getByRole("row", { name: text }).waitFor();
      const trace = reader.part("region", "Trace");
      await reader.click(reader.button(/^1 error$/, trace));
      await reader.expects(
        reader.part("complementary", "Span details"),
        "The price feed has lost its licence",
      );
    },
  );
});
