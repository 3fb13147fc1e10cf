/**
 * Tests of `docs/api.txt`, the text of the public API.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { apiText } from "../../tools/api_text.ts";
import { entryPoints } from "../../tools/entry_points.ts";
import { ROOT } from "../helpers.ts";

Deno.test("docs/api.txt matches what deno task api writes", async () => {
  const written = await Deno.readTextFile(new URL("docs/api.txt", ROOT));
  const text = await apiText(ROOT, entryPoints(config));
  // Report the first difference: both texts in full are too long.
  const lines = text.split("\n");
  const different = written.split("\n").find((line, i) => line !== lines[i]);
  assertEquals(different, undefined);
  assertEquals(written.length, text.length);
});

Deno.test("docs/api.txt names each run-time export of each entry point", async () => {
  const written = await Deno.readTextFile(new URL("docs/api.txt", ROOT));
  for (const [name, path] of Object.entries(entryPoints(config))) {
    const module = await import(new URL(path, ROOT).href);
    const count = Object.keys(module).length;
    assert(
      written.includes(`# ${name}\n\n${count} at run time, `),
      `${name} exports ${count} names at run time`,
    );
  }
});

Deno.test("The main entry point exports at most 80 names at run time", async () => {
  const names = Object.keys(await import("../../mod.ts"));
  assert(names.length <= 80, `it exports ${names.length}: ${names.join(", ")}`);
});
