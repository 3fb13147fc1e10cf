/**
 * Output of a soak.
 *
 * @module
 */

import type { ClusterResult, FaultRound } from "./cluster.ts";
import type { OpenFiles } from "./resources.ts";
import type { LoadResult, Sample, SoakResult } from "./soak.ts";
import type { Growth } from "./memory.ts";
import { percentile } from "./traffic.ts";

/** Returns the report of a soak in Markdown. */
export function reportOf(
  { load, crashes, cluster, failures }: SoakResult,
): string {
  const lines = [
    "",
    ...(load ? loadLines(load) : []),
    ...(crashes.length > 0 ? crashLines(crashes) : []),
    ...(cluster ? clusterLines(cluster) : []),
  ];
  if (failures.size === 0) lines.push("Nothing went wrong");
  for (const [failure, count] of failures) lines.push(`${count} × ${failure}`);
  return lines.join("\n");
}

function loadLines(load: LoadResult): string[] {
  return [
    `${load.requests} requests in ${(load.elapsed / 1000).toFixed(0)} s, ${
      (load.requests / load.elapsed * 1000).toFixed(0)
    } per second`,
    "",
    ...latenciesOf(load),
    "",
    ...memoryOf(load),
    openOf(load.open),
    `Traces still running afterwards: ${load.leftRunning}`,
    "",
  ];
}

function crashLines(crashes: SoakResult["crashes"]): string[] {
  const total = (key: keyof (typeof crashes)[number]) =>
    crashes.reduce((sum, round) => sum + round[key], 0);
  return [
    `${crashes.length} crashes: ${
      total("acknowledged")
    } writes acknowledged before, ${total("inFlight")} in flight, ${
      total("applied")
    } of them applied`,
    "",
  ];
}

function clusterLines(cluster: ClusterResult): string[] {
  const { rounds, writes, published } = cluster;
  const sum = (key: "answers" | "good") =>
    rounds.reduce((total, round) => total + round[key], 0);
  return [
    `${rounds.length} faults in a cluster, ${sum("answers")} answers, ${
      sum("good")
    } of them 200 or 429, the slowest after ${
      Math.max(...rounds.map(({ longest }) => longest)).toFixed(0)
    } ms`,
    `Acknowledged: ${published} messages, ${writes.signIns} sign-ins, ${writes.signOuts} sign-outs, ${writes.invalidations} invalidations; sessions checked: ${writes.checks}`,
    ...memoryOf(cluster),
    "",
  ];
}

/** Returns a line about a fault. */
export function faultLine(
  { fault, recovery, answers, good, longest }: FaultRound,
): string {
  return `${fault.padEnd(32)} works again after ${
    recovery.toFixed(0).padStart(5)
  } ms, ${String(answers).padStart(6)} answers, ${
    answers - good
  } of them not 200 or 429, slowest ${longest.toFixed(0)} ms`;
}

/** Returns a line about a sample. */
export function sampleLine({ elapsed, requests, rss, heap, open }: Sample) {
  return `${(elapsed / 1000).toFixed(0).padStart(5)} s ${
    String(requests).padStart(8)
  } requests, RSS ${megabytes(rss)}, heap ${megabytes(heap)}${
    open ? `, ${open.sockets} sockets, ${open.all} files` : ""
  }`;
}

function latenciesOf({ times }: LoadResult): string[] {
  const row = (name: string, list: readonly number[]) => {
    const sorted = list.toSorted((a, b) => a - b);
    const figures = [0.5, 0.9, 0.99, 1]
      .map((share) => percentile(sorted, share).toFixed(1).padStart(8));
    return `| ${name.padEnd(12)} | ${String(list.length).padStart(8)} | ${
      figures.join(" | ")
    } |`;
  };
  return [
    "| ms           | requests |      p50 |      p90 |      p99 |      max |",
    "| ------------ | -------- | -------- | -------- | -------- | -------- |",
    row("all", [...times.values()].flat()),
    ...[...times].sort(([a], [b]) => a < b ? -1 : 1)
      .map(([name, list]) => row(name, list)),
  ];
}

function memoryOf({ growth }: Pick<LoadResult, "growth">): string[] {
  return Object.entries(growth).map(([kind, found]) =>
    `${kind}: ${found ? growthLine(found) : "too few samples"}`
  );
}

function growthLine({ thirds, perThousand }: Growth): string {
  return `${thirds.map(megabytes).join(", ")} in the thirds of the time; ${
    (perThousand / 1024).toFixed(1)
  } KiB per 1000 requests at the end`;
}

function openOf(open: readonly OpenFiles[] | undefined): string {
  if (open === undefined) {
    return "Open sockets: unknown without /proc";
  }
  const [sockets, all] = (["sockets", "all"] as const).map((key) =>
    open.map((files) => files[key]).join(", ")
  );
  return `Before, maximum, after: ${sockets} sockets, ${all} open files`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
