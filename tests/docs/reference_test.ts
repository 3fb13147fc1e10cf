import { assert, assertEquals } from "@std/assert";
import { startDeno } from "../helpers.ts";

Deno.test("The API reference is written without a warning, with links and imports that are right", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using child = startDeno(["run", "-A", "tools/docs.ts", folder]);
    assertEquals(await child.code, 0, child.stderr);
    // `deno doc` reports there that it has written the files.
    assertEquals(child.stderr.replace(/^Written \d+ files to .*\n/, ""), "");

    const page = async (path: string) =>
      await Deno.readTextFile(`${folder}/${path}`);
    assert((await page("index.html")).includes("@quartet/kit/trace/noop"));
    const createApp = await page("app/~/createApp.html");
    assert(
      createApp.includes("{ createApp } from &quot;@quartet/kit/app&quot;"),
    );
    const tracing = await page("trace/index.html");
    assert(tracing.includes('href=".././trace/~/createCLIReporter.html"'));
    assert(!tracing.includes("{@link"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
