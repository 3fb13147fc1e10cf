import { assert, assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { ROOT, startDeno } from "../helpers.ts";

Deno.test("deno task docs refuses to write into a folder that is in use", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/precious.txt`, "keep");
    for (
      const [args, expected] of [
        [[folder], [
          1,
          `Cannot write the reference: ${folder} is not an empty folder\n`,
        ]],
        [["--help"], [2, "Usage: deno task docs [FOLDER]\n"]],
      ] as const
    ) {
      await using child = startDeno(["run", "-A", "tools/docs.ts", ...args]);
      assertEquals([await child.code, child.stderr], [...expected]);
    }
    assertEquals(await Deno.readTextFile(`${folder}/precious.txt`), "keep");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("deno task docs writes the reference without warnings, with working links and imports", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using child = startDeno(["run", "-A", "tools/docs.ts", folder]);
    assertEquals(await child.code, 0, child.stderr);
    // `deno doc` reports on stderr that it has written the files.
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

Deno.test("The page of each entry point opens with a sentence and an example", async () => {
  const without: string[] = [];
  for (const path of Object.values(config.exports)) {
    const text = await Deno.readTextFile(new URL(path, ROOT));
    const [comment] = text.split(" */");
    const opensWell = /^\/\*\*\n \* [A-Z].* \* ```ts\n.* \* @module\n$/s;
    if (!opensWell.test(comment!)) without.push(path);
  }
  assertEquals(without, []);
});
