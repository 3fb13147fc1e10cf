/**
 * Runs test files on Node or Bun: `main.mjs RESULTS TESTS…`. Writes the
 * outcomes to the file RESULTS.
 *
 * Ends early after a file that has left out a test which is still running: its
 * clients may be connecting again in the middle of other tests.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { denoOfTests } from "./deno_of_tests.ts";
import { addEncodings } from "./encodings.ts";
import { errorEvents } from "./error_events.ts";
import { runFile } from "./tests.ts";
import type { Outcome } from "./tests.ts";

Object.assign(globalThis, { denoOfTests, ...errorEvents });
addEncodings();

const [results, ...files] = process.argv.slice(2) as [string, ...string[]];
const leftOut = new Map<string, string>(JSON.parse(process.env.LEFT_OUT!));
const outcomes: Record<string, Outcome[]> = {};
for (const file of files) {
  outcomes[file] = await runFile(pathToFileURL(file).href, leftOut);
  // Written after each file, so that a crash doesn't lose earlier outcomes.
  writeFileSync(results, JSON.stringify(outcomes));
  if (outcomes[file].some(({ isRunning }) => isRunning)) break;
}
// Tests may leave timers behind. Node and Bun don't check for them.
process.exit(0);
