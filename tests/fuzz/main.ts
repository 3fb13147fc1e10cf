/**
 * The command `deno task fuzz`.
 *
 * @module
 */

import { parseArguments, usageOf } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { reportOf } from "./report.ts";
import { TARGETS } from "./targets/mod.ts";

const NAMES = TARGETS.map(({ name }) => name);

async function run(
  { seed, runs, seconds, target, path }: Arguments,
): Promise<number> {
  console.log(`Seed ${seed}`);
  let failed = 0;
  for (const { name, run } of TARGETS) {
    if (target !== undefined && name !== target) continue;
    const start = performance.now();
    const { runs: tried, ways, failure } = await run({
      seed,
      numRuns: runs,
      ...seconds !== undefined &&
        { interruptAfterTimeLimit: seconds * 1000 },
      ...path !== undefined && { path },
    });
    const time = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${name}: ${tried} inputs in ${time} s: ${listOf(ways)}`);
    if (failure === undefined) continue;
    failed++;
    console.log(reportOf(name, seed, failure));
  }
  return failed === 0 ? 0 : 1;
}

/** Lists how inputs were handled, the most frequent way first. */
function listOf(ways: ReadonlyMap<string, number>): string {
  return [...ways].sort(([, a], [, b]) => b - a)
    .map(([way, count]) => `${way} ${count}`).join(", ");
}

async function main(args: readonly string[]): Promise<number> {
  const usage = usageOf(NAMES);
  let options: Arguments;
  try {
    options = parseArguments(args, NAMES);
  } catch (error) {
    console.error(`error: ${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  if (!options.help) return await run(options);
  console.log(usage);
  return 0;
}

Deno.exit(await main(Deno.args));
