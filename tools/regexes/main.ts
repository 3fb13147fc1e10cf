/**
 * Checks all regular expressions of the source for ReDoS: none may take more
 * than linear time. The last line of output is `N safe, N not`.
 *
 * Checking them all takes minutes, and the result for an expression never
 * changes. So `safe.json` lists those that were safe, and only others are
 * checked. It is rewritten when it differs: commit it. Delete it to check all.
 *
 * @module
 */

import { collectRegexes } from "./collect.ts";
import type { SourceRegex } from "./collect.ts";
import config from "./deno.json" with { type: "json" };
import type { Question, Verdict } from "./worker.ts";

/** Files that build expressions at run time, and why that is safe. */
const BUILT: Readonly<Record<string, string>> = {
  "tools/regexes/fold.ts": "it reads the expressions of the source",
  "tools/regexes/collect.ts": "it reads the expressions of the source",
  "trace/testing/expect_trace.ts": "the expression is the one of a user's test",
};

const { regexes, unknown } = await collectRegexes();
const problems = unknown.filter((place) => !(fileOf(place) in BUILT)).map(
  (place) => `${place}: must be built from constants of the same file`,
);
for (const file in BUILT) {
  if (unknown.map(fileOf).includes(file)) continue;
  problems.push(`${file}: builds no expression; remove it from BUILT`);
}
const LIST = new URL("safe.json", import.meta.url);
/** Another version may find more. */
const checker = config.imports["recheck/"];
const listed = await readList();
const safe: string[] = [];
const queue = regexes.filter(({ regex }) => {
  const isListed = listed.has(`${regex}`);
  if (isListed) safe.push(`${regex}`);
  return !isListed;
});
const { hardwareConcurrency } = navigator;
await Promise.all(Array.from({ length: hardwareConcurrency }, examineRest));

for (const problem of problems.sort()) console.error(problem);
const list = `${JSON.stringify({ checker, safe: safe.sort() }, null, 2)}\n`;
if (list !== await readText()) {
  await Deno.writeTextFile(LIST, list);
  console.log("Wrote tools/regexes/safe.json: commit it");
}
console.log(`${safe.length} safe, ${problems.length} not`);
if (problems.length > 0) Deno.exit(1);

function fileOf(place: string): string {
  return place.split(":", 1)[0]!;
}

/** Returns the expressions that this version of the checker found safe. */
async function readList(): Promise<ReadonlySet<string>> {
  const list = JSON.parse(await readText());
  return new Set(list.checker === checker ? list.safe : []);
}

async function readText(): Promise<string> {
  try {
    return await Deno.readTextFile(LIST);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "{}";
    throw error;
  }
}

async function examineRest(): Promise<void> {
  const url = new URL("worker.ts", import.meta.url);
  const worker = new Worker(url, { type: "module" });
  let next: SourceRegex | undefined;
  while ((next = queue.shift()) !== undefined) {
    const { places, regex } = next;
    const { status, complexity, attack } = await ask(worker, regex);
    if (status === "safe") safe.push(`${regex}`);
    else {
      const reason = status === "unknown"
        ? "takes too long to check; simplify it"
        : `takes ${complexity} time, for example for ${attack}`;
      problems.push(`${places.join(", ")}: ${regex} ${reason}`);
    }
  }
  worker.terminate();
}

function ask(
  worker: Worker,
  { source, flags }: Question,
): Promise<Verdict> {
  const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = reject;
  worker.postMessage({ source, flags } satisfies Question);
  return promise;
}
