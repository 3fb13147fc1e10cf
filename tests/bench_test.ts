/** `deno task bench`, which runs `bench/run.ts`. */

import { assertEquals, assertMatch } from "@std/assert";
import { ROOT, startDeno } from "./helpers.ts";

/** Runs benchmarks without any program on the path. */
async function bench(...args: string[]) {
  await using child = startDeno(["run", "-A", "bench/run.ts", ...args], ROOT, {
    env: { PATH: "" },
  });
  const code = await child.code;
  return { code, stdout: child.stdout, stderr: child.stderr };
}

Deno.test("deno task bench says before it starts that it needs wrk", async () => {
  for (const args of [[], ["data/hits", "trace"]]) {
    const { code, stdout, stderr } = await bench(...args);
    assertEquals([code, stdout], [2, ""]);
    assertMatch(
      stderr,
      /^error: Cannot run .*trace\/http.*: they need the load generator wrk on the PATH\. Install it, .*: .* trace\/spans .*\n$/,
    );
  }
});

Deno.test("deno task bench names the benchmarks if none matches", async () => {
  const { code, stderr } = await bench("nope");
  assertEquals(code, 2);
  assertMatch(
    stderr,
    /^error: no benchmark begins with nope; choose from app\/http, /,
  );
});

Deno.test("deno task bench knows each benchmark that a page describes", async () => {
  const { stderr } = await bench("nope");
  const known = stderr.trim().split("choose from ")[1]!.split(", ");
  const described: string[] = [];
  for await (const { name } of Deno.readDir(new URL("bench/", ROOT))) {
    const page = new URL(`bench/${name}/README.md`, ROOT);
    const text = await Deno.readTextFile(page).catch(() => "");
    for (const [, heading] of text.matchAll(/^## (\w+\/\w+)$/gm)) {
      described.push(heading!);
    }
  }
  assertEquals(described.sort(), known.sort());
});
