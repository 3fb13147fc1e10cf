/**
 * Runs all tests, one folder of `tests/` after the other in one process each, and
 * two processes side by side: most of their time is spent waiting. Prints their
 * outputs in that order. With arguments, checks the types of the tests of these
 * paths, and runs them in one process.
 *
 * @module
 */

import { stripVTControlCharacters } from "node:util";
import { startDeno, startInTurn } from "./child.ts";

/**
 * The folders of `tests/` that take longest, longest first, so that both
 * processes end at about the same time. Other tests follow.
 */
const LONGEST = [
  "e2e",
  "cluster",
  "trace",
  "auth",
  "rpc",
  "registry",
  "data",
  "dev",
  "scaling",
  "hostile_length",
  "soak",
  "docs",
  "limits",
  "combined",
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

/** Returns the paths of each process: a folder, or all files of `tests/`. */
async function parts(): Promise<string[][]> {
  const entries = await Array.fromAsync(Deno.readDir("tests"));
  const groups = Map.groupBy(
    entries.filter((entry) =>
      entry.isDirectory || entry.name.endsWith("_test.ts")
    ),
    ({ name, isDirectory }) => isDirectory ? name : "",
  );
  const order = new Set([...LONGEST, ...[...groups.keys()].sort()]);
  return [...order].flatMap((key) => {
    const names = groups.get(key)?.map(({ name }) => `tests/${name}`);
    return names ? [names.sort()] : [];
  });
}

const begun = performance.now();
// `deno task check` checks the types of all tests, in a third of the time.
const runs = Deno.args.length > 0
  ? [startDeno([...TEST, ...Deno.args], "inherit")]
  : startInTurn(
    (await parts()).map((
      paths,
    ) => [...TEST, "--no-check", "--permit-no-files", ...paths]),
    "inherit",
  );
const sums = { passed: 0, steps: 0, failed: 0, ignored: 0 };
let isOk = true;
for (const started of runs) {
  const run = await started;
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
