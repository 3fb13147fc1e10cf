/// <reference lib="dom" />

/**
 * Takes the pictures in `docs/images/`: someone uses Atlas and the apps of
 * `tests/e2e/stories`, and someone else reads the traces.
 *
 * Run it with `deno task screenshots`, or with the names of some pictures.
 *
 * @module
 */

import { ROOT } from "../tests/helpers.ts";
import { startBrowser, type TestBrowser } from "../tests/e2e/browser.ts";
import { runStory, type Story } from "../tests/e2e/stories/story.ts";
import { openTrace, waitForText } from "../tests/e2e/viewer_page.ts";

/** A picture of the viewer. */
export interface Screenshot {
  /** The name of its file in `docs/images/`. */
  readonly name: string;
  /** The size in pixels. */
  readonly width: number;
  readonly height: number;
  readonly colorScheme?: "light" | "dark";
  /** The page that is shown. Default: the reader's. */
  readonly of?: "visitor" | "reader";
  /** The path of the app. Default: Atlas. */
  readonly entry?: string;
  /** The working directory of the app. Default: an empty folder. */
  readonly folder?: string;
  /** Uses the app, and shows its traces. */
  readonly show: (story: Story) => Promise<void>;
}

const ATLAS = "examples/atlas/main.ts";
/** The folder of the stories, so that lines of code have short paths. */
const STORIES = new URL("tests/e2e/stories/", ROOT).pathname;
/** Atlas with an empty database that nothing keeps. */
const ATLAS_ENV = {
  ATLAS_DATABASE: ":memory:",
  ATLAS_SECRET: "a secret of at least thirty-two bytes",
};

/** All pictures. */
export const SCREENSHOTS: readonly Screenshot[] = [
  {
    name: "list.png",
    width: 1120,
    height: 420,
    async show(story) {
      const { url, visitor, reader } = story;
      await visitCountry(story);
      for (const code of ["fra", "bel", "lux", "nowhere", "che"]) {
        await visitor.goto(`${url}/countries/${code}`);
      }
      await visitor.goto(url, { waitUntil: "networkidle" });
      await visitor.locator("#q").pressSequentially("be");
      await reader.endedRow(/key /).nth(1).waitFor();
    },
  },
  {
    name: "page-load.png",
    width: 1120,
    height: 600,
    async show(story) {
      await visitCountry(story);
      await openTrace(story.reader.page, /deu/);
    },
  },
  {
    name: "repeated-queries.png",
    width: 1120,
    height: 440,
    entry: "tests/e2e/stories/repeated_query.ts",
    async show({ url, visitor, reader }) {
      await visitor.goto(`${url}/orders`);
      await reader.click(reader.endedRow(/page/));
      await reader.click(reader.button(/^40 × SELECT/));
    },
  },
  {
    name: "error.png",
    width: 1120,
    height: 580,
    colorScheme: "dark",
    entry: "tests/e2e/stories/failing_request.ts",
    folder: STORIES,
    async show({ url, visitor, reader }) {
      await visitor.goto(`${url}/cart`);
      await visitor.getByRole("button", { name: "Check out" }).click();
      await waitForText(visitor, "output", "Something went wrong");
      const row = reader.endedRow(/click button/);
      await reader.click(reader.button(/errors$/, row));
      await reader.page.getByRole("heading", { name: "No tax rate" })
        .waitFor();
    },
  },
  {
    name: "phone.png",
    width: 390,
    height: 640,
    entry: "tests/e2e/stories/many_fetches.ts",
    async show({ url, visitor, reader }) {
      await visitor.goto(url);
      await waitForText(visitor, "ul", "shelf-10");
      // A phone shows neither the kind nor the number of requests.
      await waitForText(reader.page, "#trace-list [data-row]", "14 requests");
      await reader.click(reader.endedRow(/\/ /));
    },
  },
  {
    name: "findings.png",
    width: 1120,
    height: 240,
    entry: "tests/e2e/stories/repeated_query.ts",
    folder: STORIES,
    async show({ url, visitor, reader }) {
      await visitor.goto(`${url}/orders`);
      await reader.page.getByRole("tab", { name: "Findings (1)" }).click();
      await waitForText(reader.page, "main", "40 × SELECT");
    },
  },
  {
    name: "panel.png",
    width: 1120,
    height: 700,
    of: "visitor",
    entry: "tests/e2e/stories/repeated_query.ts",
    folder: STORIES,
    async show({ url, visitor }) {
      await visitor.setViewportSize({ width: 1120, height: 700 });
      await visitor.goto(`${url}/orders`);
      await visitor.getByRole("button", { name: /1 finding/ }).click();
      const viewer = visitor.frameLocator("trace-panel iframe");
      await viewer.getByText("40 ×").first().waitFor();
      await viewer.getByRole("gridcell", { name: "running" })
        .waitFor({ state: "detached" });
    },
  },
];

async function visitCountry({ url, visitor, reader }: Story): Promise<void> {
  await visitor.goto(`${url}/countries/deu`);
  await reader.endedRow(/page \/countries\/deu/).waitFor();
}

/** Replaces this machine's folder in texts. */
function shortenPaths([folder, short]: readonly [string, string]): void {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    node.data = node.data.replaceAll(folder, short);
  }
}

async function take(browser: TestBrowser, shot: Screenshot): Promise<void> {
  const { name, width, height, colorScheme = "light", entry = ATLAS } = shot;
  const folder = shot.folder ?? await Deno.makeTempDir();
  const options = { width, height, colorScheme, folder, env: ATLAS_ENV };
  try {
    await runStory(browser, entry, async (story) => {
      await shot.show(story);
      const page = shot.of === "visitor" ? story.visitor : story.reader.page;
      // Nothing is highlighted by the pointer.
      await page.mouse.move(0, 0);
      await page.evaluate(shortenPaths, [ROOT.pathname, "/shop/"] as const);
      const path = new URL(`docs/images/${name}`, ROOT).pathname;
      const { length } = await page.screenshot({ path });
      console.log(`${name} ${(length / 1000).toFixed(0)} KB`);
    }, options);
  } finally {
    await Deno.remove(`${folder}/.quartet`, { recursive: true });
    if (shot.folder === undefined) await Deno.remove(folder);
  }
}

if (import.meta.main) {
  await using browser = await startBrowser();
  for (const shot of SCREENSHOTS) {
    if (Deno.args.length === 0 || Deno.args.includes(shot.name)) {
      await take(browser, shot);
    }
  }
}
