/**
 * Runs the tests and prints the coverage of each module. Fails if a test fails, or
 * if a module's coverage is too low.
 *
 * `deno task coverage tests/auth` runs only these tests, and checks no bounds.
 *
 * @module
 */

import ts from "typescript";
import { type FileCoverage, readLcov, type Share } from "./lcov.ts";

const ROOT = new URL("../", import.meta.url);
const FOLDER = "coverage";
const MODULES = ["app", "auth", "core", "data", "rpc", "trace"];
/** Lowest coverage of a module, in percent. */
const BOUNDS = { lines: 95, branches: 90 };
const IN_BROWSER = "runs in a browser, in tests/e2e/client_*_test.ts";
const ELSEWHERE = "runs on Node and Bun, in tests/registry/npm/npm_test.ts";
/** Files that don't count, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "app/adapters/host_socket.ts": ELSEWHERE,
  "app/adapters/node_upgrade.ts": ELSEWHERE,
  "app/adapters/to_bun.ts": ELSEWHERE,
  "app/adapters/to_node.ts": ELSEWHERE,
  "trace/client/fetch.ts": IN_BROWSER,
  "trace/client/observe.ts": IN_BROWSER,
  "trace/client/page_load.ts": IN_BROWSER,
  "trace/client/replace.ts": IN_BROWSER,
  "trace/client/requests.ts": IN_BROWSER,
  "trace/client/resources.ts": IN_BROWSER,
  "trace/client/roots.ts": IN_BROWSER,
  "trace/client/sender.ts": IN_BROWSER,
  "trace/client/user.ts": IN_BROWSER,
  "trace/client/vitals.ts": IN_BROWSER,
  "trace/client/websocket.ts": IN_BROWSER,
  "trace/client/xhr.ts": IN_BROWSER,
};

/** Runs tests, with the flags of the task `test`. */
async function runTests(paths: readonly string[]): Promise<boolean> {
  const config = await Deno.readTextFile(new URL("deno.json", ROOT));
  const command: string = JSON.parse(config).tasks.test.command;
  const flags = command.split(" ").filter((part) => part.startsWith("-"));
  const coverage = [`--coverage=${FOLDER}`, "--clean"];
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["test", ...flags, ...coverage, "--coverage-raw-data-only", ...paths],
    cwd: ROOT,
  }).spawn().status;
  return success;
}

/** Returns the coverage of each file, by its path from the root. */
async function readCoverage(): Promise<Map<string, FileCoverage>> {
  const sources = `^${RegExp.escape(ROOT.href)}(${MODULES.join("|")})/`;
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["coverage", "--lcov", `--include=${sources}`, FOLDER],
    cwd: ROOT,
    stderr: "inherit",
  }).output();
  if (!success) Deno.exit(1);
  return new Map(
    readLcov(new TextDecoder().decode(stdout))
      .map((file) => [file.path.slice(ROOT.pathname.length), file]),
  );
}

/** Finds the files in a folder that contain more than types. */
async function findCode(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(new URL(folder, ROOT))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) found.push(...await findCode(path));
    else {
      const text = await Deno.readTextFile(new URL(path, ROOT));
      const { outputText } = ts.transpileModule(text, {
        compilerOptions: {
          target: ts.ScriptTarget.ESNext,
          module: ts.ModuleKind.ESNext,
          removeComments: true,
        },
      });
      if (outputText.trim() !== "export {};") found.push(path);
    }
  }
  return found;
}

function percent({ total, reached }: Share): number {
  return total === 0 ? 100 : 100 * reached / total;
}

function isEnough(lines: Share, branches: Share): boolean {
  return percent(lines) >= BOUNDS.lines && percent(branches) >= BOUNDS.branches;
}

function sum(shares: readonly Share[]): Share {
  return {
    total: shares.reduce((sum, { total }) => sum + total, 0),
    reached: shares.reduce((sum, { reached }) => sum + reached, 0),
  };
}

/** Rounded down, so that 94.99 doesn't pass for 95. */
function show(share: Share): string {
  return (Math.floor(10 * percent(share)) / 10).toFixed(1).padStart(10);
}

/** `3, 7-9` */
function showLines(lines: ReadonlySet<number>): string {
  const ranges: [number, number][] = [];
  for (const line of [...lines].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges
    .map(([from, to]) => from === to ? `${from}` : `${from}-${to}`).join(", ");
}

const asked = Deno.args.filter((arg) => arg !== "--");
const isAll = asked.length === 0;
const passed = await runTests(isAll ? ["tests"] : asked);
const coverage = await readCoverage();
const low: string[] = [];
const wrong = passed ? [] : ["a test failed"];

console.log("\nmodule     files   lines %  branches %");
for (const module of MODULES) {
  if (!isAll && !asked.some((path) => path.includes(module))) continue;
  const paths = (await findCode(module)).sort()
    .filter((path) => !Object.hasOwn(LEFT_OUT, path));
  const files = paths.flatMap((path) => coverage.get(path) ?? []);
  const lines = sum(files.map(({ lines }) => lines));
  const branches = sum(files.map(({ branches }) => branches));
  console.log(
    module.padEnd(10) + `${files.length}`.padStart(6) + show(lines) +
      show(branches).padStart(12),
  );
  if (isAll && !isEnough(lines, branches)) wrong.push(`${module} is too low`);
  for (const path of paths) {
    const file = coverage.get(path);
    if (file === undefined) {
      if (isAll) wrong.push(`no test loads ${path}`);
    } else if (!isEnough(file.lines, file.branches)) {
      low.push(`${path}: ${showLines(file.missed)}`);
    }
  }
}

const { lines, branches } = BOUNDS;
console.log(`\nBelow ${lines} % of lines or ${branches} % of branches:`);
console.log(low.map((text) => `  ${text}`).join("\n") || "  no file");
console.log("\nLeft out:");
for (const [path, why] of Object.entries(LEFT_OUT)) {
  console.log(`  ${path}: ${why}`);
}
if (wrong.length > 0) {
  console.log(`\nFailed: ${wrong.join(", ")}`);
  Deno.exit(1);
}
