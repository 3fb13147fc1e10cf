/**
 * Types of an application's own users: fields are typed without casts, and
 * wrong names are compile errors.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { ROOT } from "../helpers.ts";

const FIXTURE = new URL("types/users.txt", import.meta.url);

/** Returns the function of docs/testing.md that signs a user in. */
async function helperOfPage(): Promise<string> {
  const page = await Deno.readTextFile(new URL("docs/testing.md", ROOT));
  return /\nasync function cookieOf[^]*?\n}\n/.exec(page)![0];
}

Deno.test("An application's own fields are typed, and wrong ones are compile errors at their place", async () => {
  const text = await Deno.readTextFile(FIXTURE);
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    // At the end, so that the numbers of lines stay.
    await Deno.writeTextFile(file, text + await helperOfPage());
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--config", "deno.json", file],
      cwd: ROOT,
      env: { NO_COLOR: "1" },
    }).output();
    const said = new TextDecoder().decode(stderr);
    const found = [...said.matchAll(
      /^(?:error: )?TS\d+ \[ERROR\]: ([^]*?)\n {4}at \S+:(\d+):\d+$/gm,
    )].map(([, message, line]) => ({
      line: Number(line),
      message: message!,
    })).sort((a, b) => a.line - b.line);
    const expected = text.split("\n").flatMap((line, index) => {
      const [, message] = line.split("// error: ");
      return message === undefined ? [] : [{ line: index + 1, message }];
    });
    assertEquals(
      found.map(({ line }) => line),
      expected.map(({ line }) => line),
      said,
    );
    for (const [index, { line, message }] of expected.entries()) {
      const { message: told } = found[index]!;
      assert(told.includes(message), `${line}: ${message}\n${told}`);
    }
  } finally {
    await Deno.remove(file);
  }
});
