/**
 * The runs of the dev command whose traces are listed.
 *
 * @module
 */

import { signal } from "@preact/signals";
import type { DevRun } from "../model/runs.ts";

/** The runs, the present one first. Without an earlier one, there are none. */
export const runs = signal<readonly DevRun[]>([]);

/** How long new requests wait to be compared, in milliseconds. */
const DELAY = 1_000;

let timer: ReturnType<typeof setTimeout> | undefined;

/** Reads the runs of a server. */
export async function readRuns(path: string): Promise<void> {
  try {
    const response = await fetch(`${path}/runs`);
    if (response.ok) runs.value = (await response.json()).runs;
  } catch {
    // The server restarts.
  }
}

/** Reads the runs again soon, after a request. */
export function updateRuns(path: string): void {
  if (runs.value.length === 0) return;
  timer ??= setTimeout(() => {
    timer = undefined;
    readRuns(path);
  }, DELAY);
}
