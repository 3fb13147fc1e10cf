/**
 * The command `deno task soak`.
 *
 * @module
 */

import { parseArguments, USAGE } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { hasRedisServer } from "../redis_server.ts";
import type { FaultRound } from "./cluster.ts";
import { faultLine, reportOf, sampleLine } from "./report.ts";
import { type Sample, soak } from "./soak.ts";

/** Number of samples to take during the load. */
const SAMPLES = 60;

async function run(
  { seconds, clients, crashes, faultEvery, part, seed }: Arguments,
): Promise<number> {
  console.log(`Seed ${seed}, ${clients} clients, ${seconds} s`);
  const again =
    `deno task soak --part ${part} --seconds ${seconds} --clients ${clients} --crashes ${crashes} --fault-every ${faultEvery} --seed ${seed}`;
  const isEnough = (elapsed: number) => elapsed >= seconds * 1000;
  const atlas = {
    seed,
    clients,
    crashes,
    isEnough,
    sampleEvery: Math.max(1_000, seconds * 1000 / SAMPLES),
    onSample: (sample: Sample) => console.log(sampleLine(sample)),
  };
  const cluster = {
    seed,
    isEnough,
    faultEvery: faultEvery * 1_000,
    onFault: (round: FaultRound) => console.log(faultLine(round)),
  };
  if (part !== "atlas" && !hasRedisServer) {
    console.log("Skipping the cluster: it needs redis-server");
  }
  const result = await soak({
    atlas: part === "cluster" ? undefined : atlas,
    cluster: part === "atlas" || !hasRedisServer ? undefined : cluster,
  }).catch((error: Error) => void console.error(error));
  if (result !== undefined) console.log(reportOf(result));
  if (result?.failures.size === 0) return 0;
  console.log(`\nTo repeat it: ${again}`);
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
