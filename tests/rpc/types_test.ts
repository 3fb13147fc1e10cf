/**
 * Compiler errors for right and wrong calls, and the compiler's work.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { check, compile } from "../../bench/types/check.ts";
import { installPackages } from "../../bench/packages.ts";

const FIXTURE = new URL("types/calls.txt", import.meta.url);
const MAX_INSTANTIATIONS = 100_000;

Deno.test("Right calls compile, and wrong ones report the error at the call", async () => {
  await using packages = await installPackages(["zod"]);
  const text = await Deno.readTextFile(FIXTURE);
  const file = `${packages.path}/calls.ts`;
  await Deno.writeTextFile(file, text);
  const { errors } = compile(packages, [file]);

  const expected = text.split("\n").flatMap((line, index) => {
    const [, message] = line.split("// error: ");
    return message === undefined ? [] : [{ line: index + 1, message }];
  });
  const found = errors.map((error) => {
    const [, line, message] = /^[^:]+:(\d+): ([^]*)$/.exec(error)!;
    return { line: Number(line), message: message! };
  });
  assertEquals(
    found.map(({ line }) => line),
    expected.map(({ line }) => line),
    errors.join("\n"),
  );
  for (const [index, { line, message }] of expected.entries()) {
    const said = found[index]!.message;
    assert(said.includes(message), `${line}: ${message}\n${said}`);
  }
});

Deno.test("A router of 300 procedures with 100 calls takes little work to compile", async () => {
  await using packages = await installPackages(["zod"]);
  const { errors, instantiations } = await check(
    packages,
    "@quartet/kit",
    "client",
  );
  assertEquals(errors, []);
  assert(
    instantiations <= MAX_INSTANTIATIONS,
    `${instantiations} instantiations`,
  );
  // A missing import is `any`, which compiles fast and proves nothing.
  const probe = await check(packages, "@quartet/kit", "probe");
  assertEquals(probe.errors.length, 2, probe.errors.join("\n"));
});
