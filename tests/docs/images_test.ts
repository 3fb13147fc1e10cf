import { assert, assertEquals, assertLess } from "@std/assert";
import { SCREENSHOTS } from "../../tools/screenshots.ts";
import { ROOT } from "../helpers.ts";
import { readPages } from "./pages.ts";

const FOLDER = "docs/images/";
/** Maximum bytes of a picture, which each clone of the repository contains. */
const MAX_SIZE = 120_000;

const names = SCREENSHOTS.map(({ name }) => name).sort();

Deno.test("Each picture of the documentation comes from tools/screenshots.ts", async () => {
  const shown = new Set<string>();
  for (const { path, links } of await readPages()) {
    for (
      const link of links.filter((link) => /\.(png|jpe?g|svg|webp)$/.test(link))
    ) {
      const { pathname } = new URL(link, new URL(path, "file:///"));
      assert(pathname.startsWith(`/${FOLDER}`), `${path}: ${link}`);
      shown.add(pathname.slice(FOLDER.length + 1));
    }
  }
  assertEquals([...shown].sort(), names);
});

Deno.test("Each picture has the size that the script sets, and is small", async () => {
  const files: string[] = [];
  for await (const { name } of Deno.readDir(new URL(FOLDER, ROOT))) {
    files.push(name);
  }
  assertEquals(files.sort(), names);
  for (const { name, width, height } of SCREENSHOTS) {
    const bytes = await Deno.readFile(new URL(FOLDER + name, ROOT));
    assertLess(bytes.length, MAX_SIZE, name);
    // The header of a PNG file.
    const view = new DataView(bytes.buffer);
    assertEquals([view.getUint32(16), view.getUint32(20)], [width, height]);
  }
});
