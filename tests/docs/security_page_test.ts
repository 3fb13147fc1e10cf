/** Checks the tables that name a test for each promise about security. */

import { assert, assertEquals } from "@std/assert";
import { exists, ROOT } from "../helpers.ts";

const PAGES = ["docs/security-tests.md", "docs/security-tests-tracing.md"];

/** `| promise | `path`: `name of the test` |`. */
const ROW = /^\| (.*?) *\| `([\w/]+\.ts)`: `(.+?)` *\|$/;

interface Row {
  readonly promise: string;
  readonly file: string;
  readonly name: string;
}

const texts = await Promise.all(
  PAGES.map((path) => Deno.readTextFile(new URL(path, ROOT))),
);
const page = texts.join("\n\n");
const lines = page.split("\n").filter((line) => line.startsWith("|"));
const tables = page.split("\n\n").filter((block) => block.startsWith("|"));

function readRow(line: string): Row | undefined {
  const [, promise, file, name] = ROW.exec(line) ?? [];
  return name === undefined
    ? undefined
    : { promise: promise!, file: file!, name };
}

/** Returns a pattern for a test's name, where each `…` is a placeholder. */
function patternOf(name: string): RegExp {
  const parts = name.split("…").map(RegExp.escape);
  return parts.length === 1
    ? new RegExp(`${RegExp.escape(JSON.stringify(name))},`)
    : new RegExp("`" + parts.join("\\$\\{[^`}]*\\}") + "`,");
}

const rows = lines.map(readRow).filter((row) => row !== undefined);

Deno.test("Each row of the pages of promises names an existing file and test", async () => {
  const missing: string[] = [];
  for (const { file, name } of rows) {
    const path = `tests/${file}`;
    const isThere = await exists(path) &&
      patternOf(name).test(await Deno.readTextFile(new URL(path, ROOT)));
    if (!isThere) missing.push(`${file}: ${name}`);
  }
  assertEquals(missing, []);
});

Deno.test("Each line of the tables of promises can be parsed", () => {
  // Each table has a head and a line of dashes.
  assertEquals(rows.length, lines.length - 2 * tables.length);
  assert(rows.length > 200, `${rows.length}`);
  for (const table of tables) {
    const [first] = table.split("\n").slice(2).map(readRow);
    assert(first?.promise, table.slice(0, 200));
  }
});

Deno.test("The pages of promises have no duplicate rows", () => {
  const keys = rows.map(({ promise, file, name }) =>
    [promise, file, name].join()
  );
  assertEquals(new Set(keys).size, keys.length);
});
