import { assertEquals } from "@std/assert";
import { addressOf, makeFolder, startDev } from "../dev/dev_command.ts";
import { ROOT } from "../helpers.ts";
import { assertAccessible, loadAxe } from "./accessibility.ts";
import { shareBrowser } from "./browser.ts";

const browser = shareBrowser();

const APP = `
  import { createApp } from "${new URL("app/mod.ts", ROOT)}";
  export default createApp({
    routes: [{ path: "/notes/:id", handler() {
      throw new TypeError("Cannot read " + "longname".repeat(40));
    } }],
  });`;

Deno.test("The error page of the dev command is accessible at 390 pixels, and leads to the trace", async () => {
  await using folder = await makeFolder();
  await folder.write("main.ts", APP);
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const url = new URL("/notes/7", await addressOf(child));
  for (const colorScheme of ["light", "dark"] as const) {
    await using view = await browser.newPage();
    const { page } = view;
    await page.setViewportSize({ width: 390, height: 800 });
    await page.emulateMedia({ colorScheme });
    await page.goto(url.href);
    assertEquals(
      await page.getByRole("heading", { level: 1 }).textContent(),
      "TypeError",
    );
    const isWide = "document.documentElement.scrollWidth > innerWidth";
    assertEquals(await page.evaluate<boolean>(isWide), false);
    // Its style is allowed by its policy.
    const back = await page.evaluate<string>(
      "getComputedStyle(document.body).backgroundColor",
    );
    assertEquals(
      back,
      colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(23, 24, 28)",
    );
    await loadAxe(page);
    await assertAccessible(page);

    await page.getByRole("link", { name: "Open the trace" }).click();
    await page.locator("#waterfall [data-row]").first().waitFor();
    // The browser reports the status itself.
    const failed = /^Failed to load resource: .* status of 500/;
    assertEquals(view.errors.filter((text) => !failed.test(text)), []);
    assertEquals(view.foreignRequests, []);
  }
});
