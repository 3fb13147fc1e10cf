import { assertEquals } from "@std/assert";
import { changedText, type DevRun, withRuns } from "../../viewer/model/runs.ts";

/** Returns a list with rows as text, such as `9 | 4`. */
function listed(times: readonly number[], starts: readonly number[]): string {
  const items = times.map((startTime) => ({ startTime }));
  const runs = starts.map((start): DevRun => ({
    start,
    changed: [],
    comparisons: [],
  }));
  return withRuns(items, runs, ({ start }) => `|${start}`)
    .map((row) => typeof row === "string" ? row : row.startTime).join(" ");
}

Deno.test("withRuns() places a run above the first earlier trace", () => {
  assertEquals(listed([9, 8, 4], [5]), "9 8 |5 4");
  assertEquals(listed([9, 8, 4, 2], [7, 3, 1]), "9 8 |7 4 |3 2");
  // Without a request yet, it is above all traces.
  assertEquals(listed([4, 2], [5, 3]), "|5 4 |3 2");
});

Deno.test("withRuns() places only the last one of several runs between two traces", () => {
  assertEquals(listed([9, 2], [8, 7, 3]), "9 |8 2");
  assertEquals(listed([], [8]), "");
  // The first run has no earlier trace.
  assertEquals(listed([9, 8], [7]), "9 8");
});

Deno.test("changedText() names two files, and counts the others", () => {
  assertEquals(changedText([]), "");
  assertEquals(changedText(["a.ts"]), ", a.ts changed");
  assertEquals(changedText(["a.ts", "b.ts"]), ", a.ts, b.ts changed");
  assertEquals(
    changedText(["a.ts", "b.ts", "c.ts", "d.ts"]),
    ", a.ts, b.ts, 2 more changed",
  );
});
