/** The page about security names tests, and they exist. */

import { assert, assertEquals } from "@std/assert";
import { ROOT } from "../helpers.ts";

Deno.test("Each attack of docs/security.md has a test of the name that the page gives", async () => {
  const page = await Deno.readTextFile(new URL("docs/security.md", ROOT));
  const rows = [...page.matchAll(/^\|[^|]*\| `(\w+_test\.ts)`: (.+?) +\|$/gm)];
  const tables = page.slice(page.indexOf("### Tokens"));
  const lines = tables.split("\n").filter((line) =>
    /^\| (?!attack|-)/.test(line)
  );
  assertEquals(rows.length, lines.length);
  assert(rows.length > 80, `${rows.length}`);
  for (const [, file, name] of rows) {
    const source = await Deno.readTextFile(
      new URL(`tests/auth/${file}`, ROOT),
    );
    assert(source.includes(`${JSON.stringify(name)},`), `${file}: ${name}`);
  }
});
