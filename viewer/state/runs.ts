import { signal } from "@preact/signals";
import type { DevRun } from "../model/runs.ts";
import { follow } from "./follow.ts";

/**
 * The runs of the server's dev command, the present one first. Without an earlier
 * one, there are none.
 */
export const runs = signal<readonly DevRun[]>([]);

follow("/runs", (answer) => {
  const { runs: list = [] } = answer as { runs?: readonly DevRun[] };
  runs.value = list.length > 1 ? list : [];
});
