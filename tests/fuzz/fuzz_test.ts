/** Runs each fuzz target with a few inputs, always the same ones. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import { ROOT } from "../helpers.ts";
import { parseArguments } from "./arguments.ts";
import { reportOf } from "./report.ts";
import { defineTarget } from "./target.ts";
import { TARGETS } from "./targets/mod.ts";

const SEED = 20_261_121;

for (const { name, claim, run } of TARGETS) {
  Deno.test(`fuzz ${name}: ${claim}`, async () => {
    const { failure, runs, ways } = await run({ seed: SEED, numRuns: 200 });
    if (failure !== undefined) throw new Error(reportOf(name, SEED, failure));
    assertEquals(runs, 200);
    assert(ways.size > 1, "some inputs are accepted and some refused");
  });
}

Deno.test("A failing input is shrunk and reported with the command that repeats it", async () => {
  const target = defineTarget(
    "spoons",
    "there are at most a hundred",
    fc.nat(),
    () => ({
      check(count) {
        if (count > 100) throw new Error("Too many spoons");
        return "fine";
      },
    }),
  );
  const { failure } = await target.run({ seed: 1, numRuns: 1_000 });
  assertEquals(failure?.input, 101);
  const report = reportOf("spoons", 1, failure!);
  assert(report.includes("Error: Too many spoons"));
  const [command] = /deno task fuzz .*$/.exec(report)!;
  assertEquals(
    command,
    `deno task fuzz --target spoons --seed 1 --path ${failure!.path}`,
  );
  // With this path, the smallest input comes first.
  const { path } = parseArguments(command.split(" ").slice(3), ["spoons"]);
  const again = await target.run({ seed: 1, path: path!, numRuns: 1_000 });
  assertEquals([again.failure?.input, again.runs], [101, 1]);
});

Deno.test("An input that changes a shared prototype is a failure", async () => {
  const target = defineTarget(
    "pollution",
    "prototypes stay as they are",
    fc.constant("b"),
    () => ({
      check(name) {
        const change = { value: 1, configurable: true };
        Object.defineProperty(Object.prototype, name, change);
        return name;
      },
    }),
  );
  const { failure } = await target.run({ seed: 1, numRuns: 100 });
  Reflect.deleteProperty(Object.prototype, "b");
  assertEquals(failure?.input, "b");
  assert(`${failure?.error}`.includes("A prototype was changed"));
});

Deno.test("fuzz reads its options from the command line", () => {
  const names = ["a", "b"];
  const { seed, ...defaults } = parseArguments([], names);
  assert(Number.isInteger(seed));
  assertEquals(defaults, {
    runs: 10_000,
    seconds: undefined,
    target: undefined,
    path: undefined,
    help: false,
  });
  const args = "--seed 5 --target b --path 1:2 --runs 7".split(" ");
  assertEquals(parseArguments(args, names), {
    ...{ seed: 5, target: "b", path: "1:2", runs: 7, seconds: undefined },
    help: false,
  });
  assert(parseArguments(["--seconds", "3"], names).runs > 1e9);
  for (
    const bad of [
      ["--fast"],
      ["--seed", "x"],
      ["--runs", "0"],
      ["--target", "c"],
      ["--path", "1"],
      ["--target", "a", "--seed", "1", "--path", "x"],
      ["a"],
    ]
  ) {
    assertThrows(() => parseArguments(bad, names), Error);
  }
});

Deno.test("fuzz --help prints the usage and the targets, and wrong options exit with 2", async () => {
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "-A",
        "--no-check",
        "tests/fuzz/main.ts",
        ...args,
      ],
      cwd: ROOT,
    }).output();
    const decoder = new TextDecoder();
    return [code, decoder.decode(stdout), decoder.decode(stderr)] as const;
  };
  const [wrong, short] = await Promise.all([
    run("--fast"),
    run("--target", "redirects", "--runs", "10", "--seed", "1"),
  ]);
  assertEquals([wrong[0], wrong[1]], [2, ""]);
  assert(wrong[2].startsWith("error: ") && wrong[2].includes("Usage:"));
  for (const { name } of TARGETS) assert(wrong[2].includes(name), name);
  assertEquals(short[0], 0, short[2]);
  assert(/^Seed 1\nredirects: 10 inputs/.test(short[1]), short[1]);
});
