/** `deno task test`, which runs `tools/test.ts`. */

import { assertEquals, assertMatch } from "@std/assert";
import { ROOT } from "./helpers.ts";

const PASS = `Deno.test("passes", () => {});\n`;
const FAIL = `Deno.test("fails", () => { throw new Error("no"); });\n`;
const IGNORE = `Deno.test.ignore("is ignored", () => {});\n`;

/** Runs `tools/test.ts` in a folder with only these tests. */
async function run(tests: Record<string, string>, ...args: string[]) {
  const folder = await Deno.makeTempDir();
  try {
    for (const [path, text] of Object.entries(tests)) {
      const file = `${folder}/tests/${path}`;
      await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), {
        recursive: true,
      });
      await Deno.writeTextFile(file, text);
    }
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", new URL("tools/test.ts", ROOT).href, ...args],
      cwd: folder,
      env: { NO_COLOR: "1" },
      stderr: "null",
    }).output();
    const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
    return { code, last: lines.at(-1)!, lines };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("deno task test runs the tests of all folders and sums them up in the last line", async () => {
  const { code, last } = await run({
    "app/a_test.ts": PASS,
    "data/b_test.ts": PASS + IGNORE,
    "new/c_test.ts": PASS,
    "d_test.ts": PASS,
    "fixtures/helpers.ts": FAIL,
    "helpers.ts": FAIL,
  });
  assertEquals(code, 0);
  assertMatch(
    last,
    /^ok \| 4 passed \(0 steps\) \| 0 failed \| 1 ignored \(\d+m\d+s\)$/,
  );
});

Deno.test("deno task test prints the longest folders first, and then the others by name", async () => {
  const slow =
    `Deno.test("slow", () => new Promise((end) => setTimeout(end, 500)));`;
  const { lines } = await run({
    "app/b_test.ts": PASS,
    "data/b_test.ts": PASS,
    "a_test.ts": PASS,
    "z_test.ts": PASS,
    "e2e/b_test.ts": slow,
    "adapters/b_test.ts": slow,
  });
  const files = lines.flatMap((line) =>
    /^running 1 test from .\/tests\/(\w+)/.exec(line)?.[1] ?? []
  );
  assertEquals(files, ["e2e", "data", "a_test", "z_test", "adapters", "app"]);
});

for (const folder of ["app", "data"]) {
  Deno.test(`deno task test fails if a test of ${folder} fails`, async () => {
    const tests = { "app/a_test.ts": PASS, "data/b_test.ts": PASS };
    const { code, last } = await run({
      ...tests,
      [`${folder}/c_test.ts`]: FAIL,
    });
    assertEquals(code, 1);
    assertMatch(last, /^FAILED \| 2 passed \(0 steps\) \| 1 failed \(/);
  });

  Deno.test(`deno task test fails if a file of ${folder} can't be loaded`, async () => {
    const tests = { "app/a_test.ts": PASS, "data/b_test.ts": PASS };
    const { code, last } = await run({
      ...tests,
      [`${folder}/c_test.ts`]: `import "./missing.ts";`,
    });
    assertEquals(code, 1);
    assertMatch(last, /^FAILED \| /);
  });
}

Deno.test("deno task test with a path runs only the tests below it", async () => {
  const { code, last } = await run(
    { "app/a_test.ts": PASS, "data/b_test.ts": FAIL },
    "tests/app",
  );
  assertEquals(code, 0);
  assertMatch(last, /^ok \| 1 passed \| 0 failed/);
});
