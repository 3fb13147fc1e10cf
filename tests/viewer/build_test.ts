import { assert, assertEquals } from "@std/assert";
import { gzipSize } from "../../viewer/build.ts";

const committed = new URL("../../viewer/dist/index.html", import.meta.url);

Deno.test("The committed page is up to date with its sources", async () => {
  // Builds in a child process, as the bundler leaves a process behind for a
  // while.
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--lock=deno.lock", "viewer/build.ts", "--check"],
    cwd: new URL("../../", import.meta.url),
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
});

Deno.test("The page allows exactly its own script and style", async () => {
  const page = await Deno.readTextFile(committed);
  for (
    const [directive, tag] of [["script-src", "script"], ["style-src", "style"]]
  ) {
    const sources = [
      ...page.matchAll(
        new RegExp(`<${tag} id="viewer-[^>]*>([^]*?)</${tag}>`, "g"),
      ),
    ];
    assertEquals(sources.length, 1);
    const bytes = new TextEncoder().encode(sources[0]![1]!);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    assert(page.includes(`${directive} 'sha256-${hash.toBase64()}';`));
  }
  assert(page.includes("default-src 'none'"));
  assert(page.includes("img-src data:;"));
  const markup = page.replace(/<script id[^]*?<\/script>/, "")
    .replace(/<link rel="icon" id="viewer-icon" href="data:[^"]*">/, "");
  assert(!/\ssrc=|<link|@import|url\(/.test(markup));
});

Deno.test("The empty page is small", async () => {
  const page = await Deno.readTextFile(committed);
  const size = await gzipSize(page);
  assert(size <= 70 * 1024, `${size} bytes gzipped, over ${70 * 1024}`);
});
