/**
 * Three processes of an app with one Redis, and a fault every few seconds.
 *
 * @module
 */

import { CLIENTS } from "../cluster/clients.ts";
import { DURABLE, startReplicated } from "../cluster/redis_topology.ts";
import { pause, SeveralKits } from "../cluster/several_kits.ts";
import { SeededRandom } from "../trace/export/random.ts";
import { type Fault, FAULTS } from "./cluster_faults.ts";
import { type ClusterWrites, startWrites } from "./cluster_writes.ts";
import type { Failures } from "./load.ts";
import { type Growth, growthOf, type MemorySample } from "./memory.ts";

/** Options for the part of the soak with several processes. */
export interface ClusterOptions {
  readonly seed: number;
  /** Whether the soak should end after this time in ms and number of faults. */
  readonly isEnough: (elapsed: number, faults: number) => boolean;
  /** Time from one fault to the next, in milliseconds. */
  readonly faultEvery: number;
  /** Called after each fault. */
  readonly onFault?: (round: FaultRound) => void;
}

/** The effects of one fault. */
export interface FaultRound {
  readonly fault: string;
  /** Time from the fault until everything works again, in milliseconds. */
  readonly recovery: number;
  /** Number of answers, and how many of them were 200 or 429. */
  readonly answers: number;
  readonly good: number;
  /** Duration of the slowest answer, in milliseconds. */
  readonly longest: number;
}

/** The result of the part with several processes. */
export interface ClusterResult {
  readonly rounds: readonly FaultRound[];
  readonly writes: ClusterWrites["counts"];
  /** Number of acknowledged messages. */
  readonly published: number;
  /**
   * Of the process that isn't killed. `undefined` if there are too few samples.
   */
  readonly growth: Readonly<Record<"heap" | "rss", Growth | undefined>>;
}

/** Maximum time to recover from a fault, in milliseconds. */
const RECOVERY = 15_000;

/** Runs three processes and causes faults. */
export async function soakCluster(
  { seed, isEnough, faultEvery, onFault }: ClusterOptions,
  failures: Failures,
): Promise<ClusterResult> {
  const random = new SeededRandom(seed);
  await using redis = await startReplicated(DURABLE);
  await using kits = await SeveralKits.start(
    { url: redis.master.url },
    3,
    (number) => ({ client: CLIENTS[number]!, history: 5_000 }),
  );
  await using writes = startWrites(kits, random);
  const rounds: FaultRound[] = [];
  const samples: MemorySample[] = [];
  const fail = (name: string, problems: readonly string[]) => {
    for (const problem of problems) {
      const failure = `${name}: ${problem}`;
      failures.set(failure, (failures.get(failure) ?? 0) + 1);
    }
  };
  let requests = 0;
  let left: Fault[] = [];

  const start = performance.now();
  while (!isEnough(performance.now() - start, rounds.length)) {
    if (left.length === 0) left = [...FAULTS];
    const [{ name, run }] = left.splice(random.below(left.length), 1) as [
      Fault,
    ];
    const end = performance.now() + faultEvery;
    kits.use();
    await pause(faultEvery / 4);
    await run({ redis, kits, random });
    const recovery = await kits.works();
    if (recovery > RECOVERY) fail(name, [`works after ${recovery} ms`]);
    await pause(Math.max(0, end - performance.now()));
    try {
      await kits.check();
    } catch (error) {
      fail(name, [(error as Error).message]);
    }
    fail(name, [...writes.staleAnswers(), ...writes.lost.splice(0)]);

    const { answers } = kits;
    kits.answers = [];
    const round: FaultRound = {
      fault: name,
      recovery,
      answers: answers.length,
      good: answers.filter(({ status }) => status === 200 || status === 429)
        .length,
      longest: Math.max(...answers.map(({ ms }) => ms)),
    };
    rounds.push(round);
    onFault?.(round);
    requests += answers.length;
    samples.push({ requests, ...await kits.kits[0]!.guest.figures() });
  }

  const growth = {
    heap: growthOf("heap", samples),
    rss: growthOf("rss", samples),
  };
  for (const [kind, found] of Object.entries(growth)) {
    if (found?.isUnbounded) fail("cluster", [`${kind} grows`]);
  }
  return {
    rounds,
    writes: writes.counts,
    published: kits.published.size,
    growth,
  };
}
