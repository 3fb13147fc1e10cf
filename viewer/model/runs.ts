/**
 * Places the starts of the dev command between the traces of the list.
 *
 * @module
 */

/** A run of the dev command. */
export interface DevRun {
  /** The start, in epoch milliseconds. */
  readonly start: number;
  /** The files that were saved before it, the latest first. */
  readonly changed: readonly string[];
  /** Its routes, compared with an earlier run. */
  readonly comparisons: readonly {
    readonly route: string;
    readonly verdict: "slower" | "faster" | "same";
    /** The difference in words, unless it is the same. */
    readonly difference: string;
    readonly before: { readonly traceId: string };
    readonly after: { readonly traceId: string };
  }[];
}

/**
 * Returns a list with a row above the first item that is earlier than a run.
 *
 * @param items The newest first.
 * @param runs The newest first.
 */
export function withRuns<Item extends { readonly startTime: number }, Row>(
  items: readonly Item[],
  runs: readonly DevRun[],
  rowOf: (run: DevRun) => Row,
): (Item | Row)[] {
  let at = 0;
  return items.flatMap((item) => {
    const run = runs[at];
    while (runs[at] && runs[at]!.start > item.startTime) at++;
    return run === runs[at] ? [item] : [rowOf(run!), item];
  });
}

/** Returns the names of changed files in words. */
export function changedText(
  [first, second, ...others]: readonly string[],
): string {
  if (first === undefined) return "";
  const more = others.length > 0 ? `, ${others.length} more` : "";
  return `, ${second ? `${first}, ${second}` : first}${more} changed`;
}
