/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { exportTracesHTML } from "@quartet/kit/trace";
import { assertEquals, assertMatch } from "@std/assert";
import { startLocations } from "../../dev/locations/start.ts";
import { makeFolder } from "../dev/dev_command.ts";
import { shareBrowser } from "./browser.ts";
import { openViewer, startAtlas, waitForText } from "./viewer_page.ts";

const browser = shareBrowser();

/** Waits until the editor has opened something. Returns its arguments. */
async function opened(file: string): Promise<string> {
  for (;;) {
    try {
      const text = await Deno.readTextFile(file);
      await Deno.remove(file);
      return text.trim();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

Deno.test("The viewer opens lines of code in the editor, or says why it can't", async () => {
  await using folder = await makeFolder();
  const file = `${folder.path}/opened`;
  await folder.write(
    "code",
    `#!/bin/sh\necho "$@" > "${file}.new" && mv "${file}.new" "${file}"\n`,
  );
  await Deno.chmod(`${folder.path}/code`, 0o755);
  const before = Deno.env.get("LAUNCH_EDITOR") ?? "";
  await using atlas = startAtlas();
  const locations = startLocations(atlas.tracer);
  try {
    Deno.env.set("LAUNCH_EDITOR", `${folder.path}/code`);
    try {
      atlas.tracer.withSpan("prices", "custom", () => {
        throw new RangeError("no price");
      });
    } catch {
      // The trace has it.
    }
    await using view = await openViewer(browser, atlas.viewer);
    const { page } = view;
    await page.locator("#trace-list [data-row]", { hasText: "prices" }).click();
    await page.keyboard.press("e");
    const line = page.locator("#details header button.link");
    assertMatch(await line.innerText(), /^viewer_editor_test\.ts:\d+$/);
    await page.keyboard.press("o");
    const place = await opened(file);
    assertMatch(place, /^-g \/.*\/tests\/e2e\/viewer_editor_test\.ts:\d+$/);
    await line.click();
    assertEquals(await opened(file), place);
    await page.locator("#details .stack .own button").first().click();
    assertEquals(await opened(file), place);

    Deno.env.set("LAUNCH_EDITOR", "vim");
    await page.keyboard.press("o");
    await waitForText(page, ".notices", "Cannot start vim");
    await waitForText(page, ".notices", place.slice("-g ".length));
    assertEquals(await view.violations(), []);

    await folder.write("traces.html", await exportTracesHTML(atlas.tracer));
    await page.goto(`file://${folder.path}/traces.html`);
    await page.locator("#trace-list [data-row]", { hasText: "prices" }).click();
    await page.keyboard.press("e");
    await page.locator("#details .stack").waitFor();
    assertEquals(await line.count(), 0);
  } finally {
    locations.close();
    Deno.env.set("LAUNCH_EDITOR", before);
  }
});
