import * as fc from "fast-check";
import type { Failure } from "./target.ts";

/**
 * Reports a failure: the smallest input found, the error, and the command that
 * repeats it.
 */
export function reportOf(
  target: string,
  seed: number,
  { input, shrinks, error, path }: Failure,
): string {
  return [
    `${target} failed. The input, shrunk ${shrinks} times:`,
    "",
    fc.stringify(input),
    "",
    error instanceof Error ? error.stack ?? error.message : String(error),
    "",
    `Repeat it with: deno task fuzz --target ${target} --seed ${seed} --path ${path}`,
  ].join("\n");
}
