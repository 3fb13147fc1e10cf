/**
 * Runs every check of the project, two at a time, and with `--tests` then the
 * tests. Prints which ones failed. The last line is `N passed, N failed`.
 *
 * @module
 */

import { type Child, startDeno, startInTurn } from "./child.ts";

const ENTRY_POINTS = Object.values<string>(
  JSON.parse(await Deno.readTextFile(new URL("../deno.json", import.meta.url)))
    .exports,
);

const EXAMPLES = [
  "app",
  "auth",
  "core",
  "data",
  "rpc",
  "trace",
  "dev",
  "dev.ts",
  "mod.ts",
  "README.md",
  "docs",
];

const LOCK = "--lock=deno.lock";

const CHECKS: Readonly<Record<string, readonly string[]>> = {
  "format": ["fmt", "--check"],
  "lint": ["lint"],
  "types": ["check", LOCK, "."],
  "regular expressions": [
    "run",
    "-A",
    "--config",
    "tools/regexes/deno.json",
    "tools/regexes/main.ts",
  ],
  "examples in documentation": [
    "test",
    "-A",
    LOCK,
    "--doc",
    "--preload",
    "tools/strict_assert.ts",
    ...EXAMPLES,
  ],
  "documentation": ["doc", "--lint", ...ENTRY_POINTS],
  "publishing (dry run)": ["task", "publish"],
  "viewer is built from its sources": [
    "run",
    "-A",
    LOCK,
    "viewer/build.ts",
    "--check",
  ],
};

Deno.chdir(new URL("..", import.meta.url));
const hasTests = Deno.args.includes("--tests");
const count = Object.keys(CHECKS).length + (hasTests ? 1 : 0);
const failed: string[] = [];
// Most checks use one core.
const children = startInTurn(Object.values(CHECKS), "piped");
for (const [i, [name, args]] of Object.entries(CHECKS).entries()) {
  await finish({ name, args, child: await children[i]! });
}
if (hasTests) {
  const args = ["task", "test"];
  await finish({ name: "tests", args, child: startDeno(args, "piped") });
}
if (failed.length > 0) console.log(`\nFailed: ${failed.join(", ")}`);
console.log(
  `\n${count - failed.length} passed, ${failed.length} failed`,
);
if (failed.length > 0) Deno.exit(1);

async function finish(
  { name, args, child }: {
    name: string;
    args: readonly string[];
    child: Child;
  },
): Promise<void> {
  console.log(`\n# ${name}: deno ${args.join(" ")}`);
  await child.print();
  if (!(await child.status).success) failed.push(name);
}
