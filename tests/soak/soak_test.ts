/** A short soak, so that the long one works when it is needed. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ROOT } from "../helpers.ts";
import { hasRedisServer, needsRedis } from "../redis_server.ts";
import { unlessStalled } from "../stalls.ts";
import { parseArguments } from "./arguments.ts";
import { FAULTS } from "./cluster_faults.ts";
import { within } from "./expect.ts";
import { ACTIONS } from "./load.ts";
import { growthOf } from "./memory.ts";
import { reportOf } from "./report.ts";
import { soak } from "./soak.ts";
import { percentile } from "./traffic.ts";

Deno.test(
  "Atlas under load answers correctly, leaves nothing open, and loses nothing when killed",
  unlessStalled(async () => {
    const result = await soak({
      atlas: {
        seed: 7,
        clients: 4,
        crashes: 1,
        isEnough: (_elapsed, requests) => requests >= 150,
        sampleEvery: 1_000,
      },
    });
    assertEquals([...result.failures], []);
    const load = result.load!;
    const { crashes } = result;
    assertEquals(load.leftRunning, 0);
    assert(load.requests >= 150);
    if (Deno.build.os === "linux") {
      const [before, most, after] = load.open!;
      assert(most!.sockets > before!.sockets, "it was under load");
      assert(after!.sockets <= before!.sockets);
    }
    assertEquals(crashes.length, 1);
    assert(crashes[0]!.acknowledged > 0);
    const report = reportOf(result);
    assert(report.endsWith("Nothing went wrong"), report);
  }),
);

Deno.test({
  name: needsRedis(
    "Three processes lose no acknowledged write or message in any fault, and every answer is in time",
    hasRedisServer,
  ),
  ignore: !hasRedisServer,
  fn: unlessStalled(async () => {
    const result = await soak({
      cluster: {
        seed: 7,
        // Each fault once.
        isEnough: (_elapsed, faults) => faults === FAULTS.length,
        faultEvery: 1_000,
      },
    });
    assertEquals([...result.failures], []);
    const { rounds, writes, published } = result.cluster!;
    assertEquals(
      rounds.map(({ fault }) => fault).toSorted(),
      FAULTS.map(({ name }) => name).toSorted(),
    );
    for (const count of [published, ...Object.values(writes)]) {
      assert(count > 0);
    }
    const report = reportOf(result);
    assert(report.endsWith("Nothing went wrong"), report);
  }),
});

Deno.test("growthOf() distinguishes growth per request from fluctuation", () => {
  const series = (heapAt: (i: number) => number) =>
    Array.from({ length: 60 }, (_, i) => ({
      requests: i * 1_000,
      heap: 20e6 + heapAt(i),
      rss: 100e6,
    }));
  const grows = (heapAt: (i: number) => number) =>
    growthOf("heap", series(heapAt))!.isUnbounded;
  assertEquals(grows(() => 0), false);
  assertEquals(grows((i) => i % 2 * 50e6), false, "temporary memory");
  assertEquals(
    grows((i) => Math.min(i, 20) * 1e6),
    false,
    "memory that fills up to a limit",
  );
  assertEquals(grows((i) => -i * 1e5), false);
  // 256 bytes per request.
  assertEquals(grows((i) => i * 256_000), true);
  assertEquals(grows((i) => i * 256_000 + i % 3 * 50e6), true);
  assertEquals(growthOf("rss", series(() => 0))!.perThousand, 0);
  assertEquals(growthOf("heap", series(() => 0).slice(50)), undefined);
});

Deno.test("within() rejects after its limit, action names are unique, and percentile() returns a list's value", async () => {
  const error = await within(1, "a test", new Promise<void>(() => {}))
    .catch((error: Error) => error);
  assertEquals(error?.message, "It took over 1 ms: a test");
  assertEquals(await within(60_000, "a test", Promise.resolve(1)), 1);
  const names = ACTIONS.map(({ name }) => name);
  assertEquals(names, [...new Set(names)]);
  const sorted = Array.from({ length: 100 }, (_, i) => i);
  assertEquals(
    [0.5, 0.9, 0.99, 1].map((share) => percentile(sorted, share)),
    [50, 90, 99, 99],
  );
});

Deno.test("soak parses the options of the command line", () => {
  const { seed, ...defaults } = parseArguments([]);
  assert(Number.isInteger(seed));
  assertEquals(defaults, {
    seconds: 600,
    clients: 8,
    crashes: 20,
    faultEvery: 20,
    part: "all",
    help: false,
  });
  const args =
    "--minutes 2 --clients 3 --crashes 0 --fault-every 9 --part cluster --seed 5"
      .split(" ");
  assertEquals(parseArguments(args), {
    ...{ seconds: 120, clients: 3, crashes: 0, faultEvery: 9, seed: 5 },
    ...{ part: "cluster", help: false },
  });
  for (
    const bad of [["--fast"], ["--seed", "x"], ["--seconds", "0"], ["2"], [
      "--part",
      "redis",
    ]]
  ) {
    assertThrows(() => parseArguments(bad), Error);
  }
});

Deno.test("soak prints its usage, and exits with 2 after a wrong option", async () => {
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "-A",
        "--no-check",
        "tests/soak/main.ts",
        ...args,
      ],
      cwd: ROOT,
    }).output();
    const decoder = new TextDecoder();
    return [code, decoder.decode(stdout), decoder.decode(stderr)] as const;
  };
  const [help, wrong] = await Promise.all([run("--help"), run("--fast")]);
  assertEquals(help[0], 0);
  assert(help[1].startsWith("Usage: deno task soak"));
  assertEquals([wrong[0], wrong[1]], [2, ""]);
  assert(wrong[2].startsWith("error: ") && wrong[2].includes("Usage:"));
});
