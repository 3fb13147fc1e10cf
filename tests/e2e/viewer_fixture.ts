import type { shareBrowser } from "./browser.ts";
import {
  assertQuiet,
  openViewer,
  startAtlas,
  type TracedAtlas,
  type ViewerPage,
  waitForText,
} from "./viewer_page.ts";

/** Opens pages for the tests of a file. */
export type SharedBrowser = ReturnType<typeof shareBrowser>;

/** Tests with an Atlas and an open viewer that must complain of nothing. */
export function testViewer(
  browser: SharedBrowser,
  name: string,
  fn: (view: ViewerPage, atlas: TracedAtlas) => Promise<void>,
): void {
  Deno.test(`the viewer ${name}`, async () => {
    await using atlas = startAtlas();
    await using view = await openViewer(browser, atlas.viewer);
    await waitForText(view.page, "#connection", "Live");
    await fn(view, atlas);
    await assertQuiet(view);
  });
}

/** Makes requests, one after the other. */
export async function ask(
  atlas: TracedAtlas,
  ...paths: string[]
): Promise<void> {
  for (const path of paths) {
    const response = await fetch(atlas.url + path);
    await response.body?.cancel();
  }
}
