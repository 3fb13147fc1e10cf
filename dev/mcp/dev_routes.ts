/**
 * Reads the findings and runs of the dev command, as its routes answer them.
 *
 * @module
 */

import type { Finding } from "../../trace/finding.ts";
import { routeAt } from "../../trace/http/extra_routes.ts";
import type { Tracer } from "../../trace/types.ts";

/** The figures of a route in one run. */
export interface RunFigures {
  readonly requests: number;
  readonly queries: number;
  readonly duration: number;
  readonly traceId: string;
}

/** A route, compared with an earlier run. */
export interface RunComparison {
  readonly route: string;
  readonly status: number;
  readonly verdict: "slower" | "faster" | "same";
  readonly before: RunFigures;
  readonly after: RunFigures;
  readonly previous: number;
  readonly changed: readonly string[];
}

/** A run of the dev command. */
export interface RunSummary {
  readonly start: number;
  readonly changed: readonly string[];
  readonly comparisons: readonly RunComparison[];
}

/** Returns the findings, the newest first. */
export async function readFindings(
  tracer: Tracer,
  query = "",
): Promise<readonly Finding[]> {
  return (await read<{ findings: Finding[] }>(tracer, "/findings", query))
    ?.findings ?? [];
}

/** Returns the runs, the present one first. */
export async function readRuns(
  tracer: Tracer,
): Promise<readonly RunSummary[]> {
  return (await read<{ runs: RunSummary[] }>(tracer, "/runs", ""))?.runs ?? [];
}

async function read<T>(
  tracer: Tracer,
  path: string,
  query: string,
): Promise<T | undefined> {
  const route = routeAt(tracer, path);
  const url = `http://localhost/__app/traces${path}${query}`;
  const response = await route?.(new Request(url), undefined);
  return response?.ok ? await response.json() : undefined;
}
