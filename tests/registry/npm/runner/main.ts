/**
 * Runs files of tests on Node or Bun: `main.mjs RESULTS TESTS…`. What has become
 * of them is written into the first file.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { denoOfTests } from "./deno_of_tests.ts";
import { addEncodings } from "./encodings.ts";
import { runFile } from "./tests.ts";
import type { Outcome } from "./tests.ts";

Object.assign(globalThis, { denoOfTests });
addEncodings();

const [results, ...files] = process.argv.slice(2) as [string, ...string[]];
const leftOut = new Map<string, string>(JSON.parse(process.env.LEFT_OUT!));
const outcomes: Record<string, Outcome[]> = {};
for (const file of files) {
  outcomes[file] = await runFile(pathToFileURL(file).href, leftOut);
  // At once, so that it is known where it ended if it does so too early.
  writeFileSync(results, JSON.stringify(outcomes));
}
// A test may have left a timer behind, which is not looked at here.
process.exit(0);
