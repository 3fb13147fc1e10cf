/**
 * The soak. Atlas runs in a process of its own, with tracing, under mixed load.
 * Then it is killed several times in the middle of writes. Finally, three
 * processes with one Redis have a fault every few seconds.
 *
 * @module
 */

import { makeFolder } from "../dev/dev_command.ts";
import { SeededRandom } from "../trace/export/random.ts";
import { databaseIn, startAtlas } from "./atlas_process.ts";
import type { AtlasProcess } from "./atlas_process.ts";
import {
  type ClusterOptions,
  type ClusterResult,
  soakCluster,
} from "./cluster.ts";
import { crashAtlas } from "./crash.ts";
import type { CrashRound } from "./crash.ts";
import { poll } from "./expect.ts";
import { applyLoad, doEach } from "./load.ts";
import type { Failures } from "./load.ts";
import { createAccounts } from "./people.ts";
import { growthOf } from "./memory.ts";
import type { Growth, MemorySample } from "./memory.ts";
import { openFilesOf } from "./resources.ts";
import type { OpenFiles } from "./resources.ts";
import { openTraffic } from "./traffic.ts";
import type { Traffic } from "./traffic.ts";
import { createWorld, nameOf } from "./world.ts";

/** Options for the soak of Atlas. */
export interface SoakOptions {
  readonly seed: number;
  /** Number of concurrent clients. */
  readonly clients: number;
  /** Number of times to kill the server. */
  readonly crashes: number;
  /**
   * Whether the load should end after this time in ms and number of requests.
   */
  readonly isEnough: (elapsed: number, requests: number) => boolean;
  /** Time between two samples, in milliseconds. */
  readonly sampleEvery: number;
  /** Called after each sample. */
  readonly onSample?: (sample: Sample) => void;
}

/** A measurement of the server. */
export interface Sample extends MemorySample {
  /** Time since the load began, in milliseconds. */
  readonly elapsed: number;
  /** Open files, or `undefined` without `/proc`. */
  readonly open: OpenFiles | undefined;
}

export interface LoadResult {
  /** Duration in milliseconds. */
  readonly elapsed: number;
  readonly requests: number;
  /** Durations of requests in milliseconds, by kind of action. */
  readonly times: Traffic["times"];
  readonly samples: readonly Sample[];
  /** For each kind of memory. `undefined` if there are too few samples. */
  readonly growth: Readonly<Record<"heap" | "rss", Growth | undefined>>;
  /** Before, maximum, and after. `undefined` without `/proc`. */
  readonly open: readonly OpenFiles[] | undefined;
  /**
   * Number of traces, of requests and subscriptions, still running afterwards.
   */
  readonly leftRunning: number;
}

export interface SoakResult {
  /** `undefined` if Atlas wasn't wanted. */
  readonly load: LoadResult | undefined;
  readonly crashes: readonly CrashRound[];
  /** `undefined` if the cluster wasn't selected. */
  readonly cluster: ClusterResult | undefined;
  /** Failures with their counts. */
  readonly failures: Failures;
}

/**
 * Maximum time until connections are closed after the load, in milliseconds.
 */
const CLOSE_TIMEOUT = 30_000;

/** Runs a soak of Atlas, of a cluster, or of both. */
export async function soak(
  { atlas, cluster }: {
    readonly atlas?: SoakOptions | undefined;
    readonly cluster?: ClusterOptions | undefined;
  },
): Promise<SoakResult> {
  const failures: Failures = new Map();
  return {
    load: atlas && await underLoad(atlas, failures),
    crashes: atlas ? await crashAtlas(atlas, failures) : [],
    cluster: cluster && await soakCluster(cluster, failures),
    failures,
  };
}

async function underLoad(
  { seed, clients, isEnough, sampleEvery, onSample }: SoakOptions,
  failures: Failures,
): Promise<LoadResult> {
  const fail = (failure: string) => void failures.set(failure, 1);
  await using folder = await makeFolder();
  const names = Array.from({ length: 2 * clients }, (_, i) => nameOf(i));
  await createAccounts(databaseIn(folder), names);
  await using atlas = await startAtlas(folder);
  const samples: Sample[] = [];
  const { pid } = await figuresOf(atlas);

  using traffic = openTraffic();
  const random = new SeededRandom(seed);
  const world = await createWorld(atlas, traffic, random, names);
  // Perform each action once first, so that one-time allocations aren't
  // counted.
  await doEach(world, failures);
  traffic.reset();
  const before = await settledFilesOf(pid);
  const start = performance.now();
  const look = async () => {
    const figures = await figuresOf(atlas).catch(() => undefined);
    if (figures === undefined) return fail("load: the server doesn't answer");
    const { rss, heap } = figures;
    const { requests } = traffic;
    const elapsed = performance.now() - start;
    const open = await openFilesOf(pid);
    const sample = { elapsed, requests, rss, heap, open };
    samples.push(sample);
    onSample?.(sample);
  };
  // Don't wait for a slow sample. Another one follows.
  let looking = look();
  const timer = setInterval(() => looking = looking.then(look), sampleEvery);
  await applyLoad(
    world,
    { seed, clients },
    () => isEnough(performance.now() - start, traffic.requests),
    failures,
  );
  const elapsed = performance.now() - start;
  clearInterval(timer);
  await looking;
  await look();
  const { requests } = traffic;
  const times = new Map(traffic.times);
  traffic.reset();

  let leftRunning = 0;
  await poll(CLOSE_TIMEOUT, async () => {
    leftRunning = (await figuresOf(atlas)).running;
    return leftRunning === 0;
  });
  if (leftRunning !== 0) fail(`load: ${leftRunning} traces still run`);

  let after = before;
  const isBack = await poll(CLOSE_TIMEOUT, async () => {
    after = await openFilesOf(pid);
    return after === undefined || after.sockets <= before!.sockets &&
        after.all <= before!.all;
  });
  if (!isBack) fail("load: more files or sockets are open than before");

  const growth = {
    heap: growthOf("heap", samples),
    rss: growthOf("rss", samples),
  };
  for (const [kind, found] of Object.entries(growth)) {
    if (found?.isUnbounded) fail(`load: ${kind} grows with the requests`);
  }
  if (atlas.complaints !== "") fail(`load: it complained: ${atlas.complaints}`);
  const open = before && after && [before, peakOf(samples), after];
  return { elapsed, requests, times, samples, growth, open, leftRunning };
}

/** Requests the figures over a separate connection, and closes it. */
async function figuresOf(atlas: AtlasProcess) {
  using client = Deno.createHttpClient({});
  return await atlas.figures((input, init) =>
    fetch(input, { ...init, client })
  );
}

/** Waits until ten samples in a row are equal, and returns the open files. */
async function settledFilesOf(pid: number): Promise<OpenFiles | undefined> {
  let files = await openFilesOf(pid);
  let same = 0;
  await poll(CLOSE_TIMEOUT, async () => {
    const now = await openFilesOf(pid);
    same = now?.all === files?.all ? same + 1 : 0;
    files = now;
    return same === 10;
  });
  return files;
}

function peakOf(samples: readonly Sample[]): OpenFiles {
  const files = samples.flatMap(({ open }) => open ?? []);
  return {
    sockets: Math.max(...files.map(({ sockets }) => sockets)),
    all: Math.max(...files.map(({ all }) => all)),
  };
}
