/**
 * The command `deno task soak`.
 *
 * @module
 */

import { parseArguments, USAGE } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { reportOf, sampleLine } from "./report.ts";
import { soak } from "./soak.ts";

/** How often one looks at the server while it is under load. */
const SAMPLES = 60;

async function run(
  { seconds, clients, crashes, seed }: Arguments,
): Promise<number> {
  console.log(`Seed ${seed}, ${clients} clients, ${seconds} s`);
  const again =
    `deno task soak --seconds ${seconds} --clients ${clients} --crashes ${crashes} --seed ${seed}`;
  const result = await soak({
    seed,
    clients,
    crashes,
    isEnough: (elapsed) => elapsed >= seconds * 1000,
    sampleEvery: Math.max(1_000, seconds * 1000 / SAMPLES),
    onSample: (sample) => console.log(sampleLine(sample)),
  }).catch((error: Error) => void console.error(error));
  if (result !== undefined) console.log(reportOf(result));
  if (result?.failures.size === 0) return 0;
  console.log(`\nTo do the same again: ${again}`);
  return 1;
}

async function main(args: readonly string[]): Promise<number> {
  let options: Arguments;
  try {
    options = parseArguments(args);
  } catch (error) {
    console.error(`error: ${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (!options.help) return await run(options);
  console.log(USAGE);
  return 0;
}

Deno.exit(await main(Deno.args));
