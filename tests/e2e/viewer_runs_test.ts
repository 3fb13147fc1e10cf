import { assertEquals } from "@std/assert";
import {
  addressOf,
  type Folder,
  makeFolder,
  startDev,
  visit,
} from "../dev/dev_command.ts";
import { booksApp, hasKept, saveBooks } from "../dev/books_app.ts";
import { freePort } from "../helpers.ts";
import { assertAccessible, loadAxe } from "./accessibility.ts";
import { shareBrowser } from "./browser.ts";
import { openViewer, waitForRows, waitForText } from "./viewer_page.ts";

const browser = shareBrowser();

function start(folder: Folder, port: number) {
  return startDev(["main.ts", "--port", `${port}`, "--trace"], folder);
}

Deno.test("The viewer marks where a run began, which file was saved before, and what it made slower", async () => {
  await using folder = await makeFolder();
  await booksApp(folder, 12);
  const port = freePort();
  await using first = start(folder, port);
  const url = await addressOf(first);
  await using view = await openViewer(browser, `${url}__app/traces`, {
    width: 1000,
  });
  const { page } = view;
  await hasKept(folder, await visit(url, "/books"));
  await waitForRows(page, "#trace-list [data-row]", 1);
  assertEquals(await page.locator(".divider").count(), 0);
  first.kill("SIGKILL");
  await first.code;

  await saveBooks(folder, 72);
  await using second = start(folder, port);
  await addressOf(second);
  // The open page finds the other process.
  await waitForText(
    page,
    ".divider",
    /^Restarted \d\d:\d\d, posts\.ts changed/,
  );
  await visit(url, "/books");
  await waitForText(page, ".divider", /GET \/books: 12 → 72 queries/);
  await page.locator("#trace-list").click({ position: { x: 5, y: 5 } });
  await loadAxe(page);
  await assertAccessible(page);

  await page.locator(".divider button").click();
  await page.locator("#compare-spans [data-row]").first().waitFor();
  const [earlier, later] = await page.locator(".side").allTextContents();
  assertEquals([earlier!.startsWith("A"), later!.startsWith("B")], [
    true,
    true,
  ]);
  assertEquals(await view.violations(), []);
});
