import * as fc from "fast-check";
import type { Failure } from "./target.ts";

/**
 * Tells what has failed: the smallest input that was found, why, and how to do
 * it again.
 */
export function reportOf(
  target: string,
  seed: number,
  { input, shrinks, error, path }: Failure,
): string {
  return [
    `${target} failed. The input, made smaller ${shrinks} times:`,
    "",
    fc.stringify(input),
    "",
    error instanceof Error ? error.stack ?? error.message : String(error),
    "",
    `To do it again: deno task fuzz --target ${target} --seed ${seed} --path ${path}`,
  ].join("\n");
}
