/**
 * A story: someone uses an app in a browser, and someone reads its traces in the
 * viewer. The app runs under the dev command.
 *
 * @module
 */

import { assertLess } from "@std/assert";
import { addressOf, makeFolder } from "../../dev/dev_command.ts";
import { ROOT, startDeno } from "../../helpers.ts";
import type { Page, TestBrowser } from "../browser.ts";
import {
  assertQuiet,
  newViewerPage,
  type ViewerPageOptions,
  waitForText,
} from "../viewer_page.ts";

/** Maximum clicks from the list to the cause. */
const MAX_CLICKS = 2;

/** A part of the page, by what a reader sees. */
export type Part = ReturnType<Page["locator"]>;

type PartRole = "grid" | "treegrid" | "group" | "region" | "complementary";

/** Reads the viewer. Clicks only on what a visible text names, and counts. */
export class Reader {
  readonly page: Page;
  #clicks = 0;

  constructor(page: Page) {
    this.page = page;
  }

  /** The row of the list with this text. */
  row(text: RegExp): Part {
    return this.part("grid", "Traces").getByRole("row", { name: text });
  }

  /** The same, once nothing in the trace is running. */
  endedRow(text: RegExp): Part {
    return this.row(text).filter({ hasNotText: "running" });
  }

  /** The button with this text. */
  button(text: RegExp, within: Page | Part = this.page): Part {
    return within.getByRole("button", { name: text });
  }

  /** The part of the page with this label. */
  part(role: PartRole, label: string): Part {
    return this.page.getByRole(role, { name: label, exact: true });
  }

  /**
   * Waits for an element and clicks on it. Fails if there are several, or after
   * too many clicks.
   */
  async click(target: Part): Promise<void> {
    assertLess(this.#clicks++, MAX_CLICKS, "too many clicks");
    await target.click();
  }

  /** Waits until exactly one such part contains all of these texts. */
  async expects(part: Part, ...texts: (string | RegExp)[]): Promise<void> {
    for (const text of texts) await part.filter({ hasText: text }).waitFor();
  }
}

/** A running story. */
export interface Story {
  /** The origin of the app. */
  readonly url: string;
  /** The page that uses the app. */
  readonly visitor: Page;
  /** The reader, with the list of traces open. */
  readonly reader: Reader;
}

export interface StoryOptions extends ViewerPageOptions {
  /** Environment variables of the app. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory of the app. Default: an empty folder. */
  readonly folder?: string;
}

/**
 * Starts an app under the dev command, with a visitor and a reader.
 *
 * @param entry The path of the app below the root.
 */
export async function runStory(
  browser: Pick<TestBrowser, "newPage">,
  entry: string,
  run: (story: Story) => Promise<void>,
  { env = {}, folder, ...options }: StoryOptions = {},
): Promise<void> {
  // The app keeps its traces there.
  await using empty = await makeFolder();
  const [config, command, app] = ["deno.json", "dev.ts", entry]
    .map((path) => new URL(path, ROOT).pathname);
  await using dev = startDeno(
    ["run", "-A", "--no-check", "--config", config!, command!, app!]
      .concat("--trace", "--port=0"),
    folder ?? empty.path,
    { env },
  );
  const url = (await addressOf(dev)).origin;
  await using viewer = await newViewerPage(browser, options);
  await viewer.page.goto(`${url}/__app/traces`);
  await waitForText(viewer.page, "#connection", "Live");
  await using visit = await browser.newPage();
  await run({ url, visitor: visit.page, reader: new Reader(viewer.page) });
  await assertQuiet(viewer);
  dev.kill("SIGINT");
  await dev.code;
}
