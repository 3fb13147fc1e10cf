/**
 * Runs all tests, in two processes side by side: most of their time is spent
 * waiting. The second process's output comes after the first's. With arguments,
 * checks the types of the tests of these paths, and runs them in one process.
 *
 * @module
 */

import { stripVTControlCharacters } from "node:util";
import { startDeno } from "./child.ts";

/** Folders of `tests/` that the second process runs. They take half the time. */
const SECOND = new Set([
  "auth",
  "cluster",
  "combined",
  "data",
  "fuzz",
  "hostile_length",
  "limits",
  "rpc",
  "scaling",
  "soak",
  "trace",
  "viewer",
]);

const TEST = [
  "test",
  "-A",
  "--lock=deno.lock",
  "--sanitize-ops",
  "--sanitize-resources",
];

const RESULT =
  /^\S+ \| (?<passed>\d+) passed(?: \((?<steps>\d+) steps?\))? \| (?<failed>\d+) failed(?: \| (?<ignored>\d+) ignored)?/gm;

async function shares(): Promise<string[][]> {
  const first: string[] = [];
  const second: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir("tests")) {
    if (!isDirectory && !name.endsWith("_test.ts")) continue;
    (SECOND.has(name) ? second : first).push(`tests/${name}`);
  }
  const all = [first.sort(), second.sort()];
  return navigator.hardwareConcurrency > 1 ? all : [all.flat()];
}

const begun = performance.now();
// `deno task check` checks the types of all tests, in a third of the time.
const runs = Deno.args.length > 0
  ? [startDeno([...TEST, ...Deno.args], "inherit")]
  : (await shares()).map((share) =>
    startDeno([...TEST, "--no-check", ...share], "inherit")
  );
const sums = { passed: 0, steps: 0, failed: 0, ignored: 0 };
let isOk = true;
for (const run of runs) {
  const text = stripVTControlCharacters(await run.print());
  const groups = [...text.matchAll(RESULT)].at(-1)?.groups ?? {};
  for (const name of Object.keys(sums) as (keyof typeof sums)[]) {
    sums[name] += Number(groups[name] ?? 0);
  }
  const { success } = await run.status;
  isOk &&= success && groups["passed"] !== undefined;
}
if (runs.length > 1) {
  const { passed, steps, failed, ignored } = sums;
  const seconds = Math.round((performance.now() - begun) / 1_000);
  const time = `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  const ending = ignored > 0 ? ` | ${ignored} ignored` : "";
  console.log(
    `\n${
      isOk ? "ok" : "FAILED"
    } | ${passed} passed (${steps} steps) | ${failed} failed${ending} (${time})`,
  );
}
Deno.exit(isOk ? 0 : 1);
