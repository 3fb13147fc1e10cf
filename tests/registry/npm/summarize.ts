import type { Result } from "./run_suites.ts";
import type { Suites } from "./suites.ts";

/** Returns the number of tests that passed, and why others were skipped. */
export function summarize(
  name: string,
  results: readonly Result[],
  leftOut: Suites["leftOut"],
): string {
  const passed = Object.groupBy(
    results.filter(({ state }) => state === "passed"),
    ({ path }) => path.split("/")[1]!,
  );
  const reasons = Map.groupBy(
    results.filter(({ state }) => state === "left out"),
    ({ reason }) => reason!,
  );
  const lines = [
    ...Object.entries(passed).map(([it, all]) => `${all!.length} of ${it}`),
    ...Array.from(reasons, ([it, all]) => `left out ${all.length}: ${it}`),
    ...Array.from(leftOut, ([path, reason]) => `left out ${path}: ${reason}`),
  ];
  return [`Passed on ${name}:`, ...lines].join("\n  ");
}
