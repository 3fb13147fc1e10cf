/**
 * Runs all tests, in two processes side by side: most of their time is spent
 * waiting. The second process's output comes after the first's. With arguments,
 * runs the tests of these paths in one process.
 *
 * @module
 */

import { stripVTControlCharacters } from "node:util";

/** Folders of `tests/` that the second process runs. They take half the time. */
const SECOND = new Set([
  "auth",
  "cluster",
  "combined",
  "data",
  "fuzz",
  "limits",
  "rpc",
  "scaling",
  "soak",
  "trace",
  "viewer",
]);

const RESULT =
  /^\S+ \| (?<passed>\d+) passed(?: \((?<steps>\d+) steps?\))? \| (?<failed>\d+) failed(?: \| (?<ignored>\d+) ignored)?/gm;

interface Run {
  readonly status: Promise<Deno.CommandStatus>;
  /** Writes the output, from its beginning to its end. Returns its text. */
  print(): Promise<string>;
}

function start(paths: readonly string[]): Run {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "-A",
      "--lock=deno.lock",
      "--sanitize-ops",
      "--sanitize-resources",
      ...paths,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  // Read at once: a full pipe would stop the process.
  const chunks: Uint8Array[] = [];
  let isOver = false;
  let wake = () => {};
  (async () => {
    for await (const chunk of child.stdout) {
      chunks.push(chunk);
      wake();
    }
    isOver = true;
    wake();
  })();
  return {
    status: child.status,
    async print() {
      const decoder = new TextDecoder();
      let text = "";
      for (let i = 0;; i++) {
        while (i === chunks.length && !isOver) {
          await new Promise<void>((resolve) => wake = resolve);
        }
        if (i === chunks.length) return text;
        let rest = chunks[i]!;
        text += decoder.decode(rest, { stream: true });
        while (rest.length > 0) {
          rest = rest.subarray(await Deno.stdout.write(rest));
        }
      }
    },
  };
}

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
const paths = Deno.args.length > 0 ? [Deno.args] : await shares();
const runs = paths.map(start);
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
