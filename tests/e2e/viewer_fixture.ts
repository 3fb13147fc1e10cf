import type { shareBrowser } from "./browser.ts";
import {
  assertQuiet,
  openViewer,
  startAtlas,
  type TracedAtlas,
  type ViewerPage,
  waitForText,
} from "./viewer_page.ts";

/** Browser shared by the tests of a file. */
export type SharedBrowser = ReturnType<typeof shareBrowser>;

/**
 * Registers a test with Atlas and an open viewer, which must report no errors.
 */
export function testViewer(
  browser: SharedBrowser,
  name: string,
  fn: (view: ViewerPage, atlas: TracedAtlas) => Promise<void>,
): void {
  Deno.test(`The viewer ${name}`, async () => {
    await using atlas = startAtlas();
    await using view = await openViewer(browser, atlas.viewer);
    await waitForText(view.page, "#connection", "Live");
    await fn(view, atlas);
    await assertQuiet(view);
  });
}

/** Sends requests in sequence. */
export async function ask(
  atlas: TracedAtlas,
  ...paths: string[]
): Promise<void> {
  for (const path of paths) {
    const response = await fetch(atlas.url + path);
    await response.body?.cancel();
  }
}
