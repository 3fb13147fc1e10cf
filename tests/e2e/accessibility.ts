/**
 * Checks of accessibility that a machine can make.
 *
 * @module
 */

import axe from "axe-core";
import type { AxeResults, RunOptions } from "axe-core";
import { assertEquals } from "@std/assert";
import type { Page } from "./browser.ts";
import { waitUntil } from "./viewer_page.ts";

const STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];

/**
 * The looks that pages are checked in. With `FULL=1`, each color scheme has each
 * width.
 */
export const LOOKS: readonly {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
}[] = [
  { colorScheme: "light", width: 1440 },
  { colorScheme: "dark", width: 390 },
  ...Deno.env.get("FULL") === "1"
    ? [
      { colorScheme: "light", width: 390 },
      { colorScheme: "dark", width: 1440 },
    ] as const
    : [],
];

/**
 * Loads axe into the page. Like the developer tools, this bypasses the page's
 * policy.
 */
export async function loadAxe(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  await waitUntil(page, `typeof axe === "object"`);
}

/** Checks that axe reports no violation rated serious or critical. */
export async function assertAccessible(page: Page): Promise<void> {
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
