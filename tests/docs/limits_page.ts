/**
 * Reads figures and files from `docs/limits.md`.
 *
 * @module
 */

import { assert } from "@std/assert";
import { marked, type Tokens } from "marked";
import { ROOT } from "../helpers.ts";

/** Source of the page. */
export const text = await Deno.readTextFile(new URL("docs/limits.md", ROOT));
const tokens = marked.lexer(text);
/** Cells of each row, by the first cell. */
export const rows = new Map(
  tokens.filter((token): token is Tokens.Table => token.type === "table")
    .flatMap(({ rows }) => rows)
    .map((cells) => [cells[0]!.text, cells.map(({ text }) => text)]),
);

const UNITS: Readonly<Record<string, number>> = {
  KiB: 1024,
  MiB: 1024 * 1024,
};

/** Returns a limit's default: the first figure of its row. */
export function figure(limit: string): number {
  const cells = rows.get(limit);
  assert(cells !== undefined, `The page has no limit "${limit}"`);
  const [, digits = "", unit = ""] = /(\d[\d,]*)(?: (\w+))?/.exec(cells[1]!) ??
    [];
  assert(digits !== "", `The limit "${limit}" has no figure: ${cells[1]}`);
  return Number(digits.replaceAll(",", "")) * (UNITS[unit] ?? 1);
}

/** Returns the configuration file that the page shows for a proxy. */
export function shownFor(language: string): string {
  const block = tokens.find((token): token is Tokens.Code =>
    token.type === "code" && token.lang === language
  );
  assert(block !== undefined, `The page has no block for ${language}`);
  return block.text;
}
