/**
 * The messages of failed checks: a title, and below it a short list of what was
 * found.
 *
 * ```
 * Expected at most 3 queries, found 12:
 *   10 × SELECT name FROM author WHERE id = ? (loader:/notes)
 *   2 × SELECT author FROM note (loader:/notes)
 * ```
 *
 * @module
 */

import { printable } from "../../core/redact/printable.ts";
import { failureOf, truncate } from "../report/terminal.ts";
import type { SpanData } from "../types.ts";
import type { CountRange } from "./check_options.ts";

/** Maximum lines of a list, and characters of a line. */
const MAX_LINES = 10;
const MAX_LENGTH = 160;

/** The error of a failed check. Test runners know its name. */
class TraceAssertionError extends Error {
  override readonly name = "AssertionError";
}

/**
 * Throws the error of a failed check. Its stack begins at the caller of `check`.
 *
 * @param found Texts that describe what was found. Equal ones are counted.
 */
export function fail(
  title: string,
  found: readonly string[],
  check: (...args: never[]) => unknown,
): never {
  const lines = tally(found);
  const error = new TraceAssertionError(
    lines.length === 0 ? title : `${title}:\n${lines.join("\n")}`,
  );
  Error.captureStackTrace?.(error, check);
  throw error;
}

/** Returns a line for each different text, the most frequent first. */
function tally(texts: readonly string[]): string[] {
  const counts = [...countEach(texts)].sort(([, a], [, b]) => b - a);
  const lines = counts.slice(0, MAX_LINES)
    .map(([text, count]) => `  ${count} × ${shorten(text)}`);
  const rest = counts.length - lines.length;
  return rest > 0 ? [...lines, `  … and ${rest} more`] : lines;
}

/** Returns how often each text occurs, in order of the first occurrence. */
export function countEach(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

function shorten(text: string): string {
  return truncate(printable(text.replaceAll(/\s+/g, " ").trim()), MAX_LENGTH);
}

/**
 * Compares a number with the expected one.
 *
 * @param nouns The counted things, in singular and plural.
 * @returns The title of the failed check, or `undefined` if the number is right.
 */
export function compareCount(
  found: number,
  { exactly, min, max }: CountRange,
  nouns: readonly [one: string, many: string],
): string | undefined {
  const expect = (words: string, count: number) => {
    const amount = count === 0 ? "no" : `${words} ${count}`;
    const noun = nouns[count === 1 ? 0 : 1];
    return `Expected ${amount} ${noun}, found ${found === 0 ? "none" : found}`;
  };
  if (exactly !== undefined && found !== exactly) {
    return expect("exactly", exactly);
  }
  if (min !== undefined && found < min) return expect("at least", min);
  return max !== undefined && found > max ? expect("at most", max) : undefined;
}

/** Describes the failure of a span, such as `job: TypeError: x is undefined`. */
export function describeFailure(span: SpanData): string {
  return `${span.name}: ${failureOf(span)}`;
}
