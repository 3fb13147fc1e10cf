/**
 * Runs every check of the project, and with `--tests` also the tests. Prints which
 * ones failed. The last line is `N passed, N failed`.
 *
 * @module
 */

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
const TESTS = ["task", "test"];

const checks = Object.entries(
  Deno.args.includes("--tests") ? { ...CHECKS, tests: TESTS } : CHECKS,
);
const failed: string[] = [];
for (const [name, args] of checks) {
  console.log(`\n# ${name}: deno ${args.join(" ")}`);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: new URL("..", import.meta.url),
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  if (!success) failed.push(name);
}
if (failed.length > 0) console.log(`\nFailed: ${failed.join(", ")}`);
console.log(
  `\n${checks.length - failed.length} passed, ${failed.length} failed`,
);
if (failed.length > 0) Deno.exit(1);
