/**
 * Runs all tests, in three processes side by side: much of their time is spent
 * waiting. Their outputs come one after the other. With arguments, checks the
 * types of the tests of these paths, and runs them in one process.
 *
 * @module
 */

import { stripVTControlCharacters } from "node:util";
import { startDeno } from "./child.ts";

/**
 * What the second and the third process run in `tests/`. The first two take
 * equally long. The third, whose tests rarely wait, ends early.
 */
const SHARES: readonly (readonly string[])[] = [
  [
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
    "viewer",
  ],
  ["docs", "registry"],
];

const TEST = [
  "test",
  "-A",
  "--lock=deno.lock",
  "--sanitize-ops",
  "--sanitize-resources",
];

const RESULT =
  /^\S+ \| (?<passed>\d+) passed(?: \((?<steps>\d+) steps?\))? \| (?<failed>\d+) failed(?: \| (?<ignored>\d+) ignored)?/gm;

/** Returns the paths for each process. */
async function shares(): Promise<string[][]> {
  const all: string[][] = [[], ...SHARES.map(() => [])];
  for await (const { name, isDirectory } of Deno.readDir("tests")) {
    if (!isDirectory && !name.endsWith("_test.ts")) continue;
    all[SHARES.findIndex((share) => share.includes(name)) + 1]!
      .push(`tests/${name}`);
  }
  if (navigator.hardwareConcurrency === 1) return [all.flat()];
  return all.filter((share) => share.length > 0).map((share) => share.sort());
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
