import { assertEquals } from "@std/assert";
import { leastGrowth, measureRounds } from "./leaks.ts";

/** Returns the growth that is found in memory of this size after each round. */
async function growthOf(sizeAfter: (round: number) => number): Promise<number> {
  let rounds = 0;
  return leastGrowth(
    await measureRounds(() => void rounds++, () => sizeAfter(rounds)),
  );
}

Deno.test("leastGrowth() finds the bytes that leak in each round", async () => {
  assertEquals(await growthOf(() => 5e6), 0);
  assertEquals(await growthOf((round) => 5e6 + round * 1_000), 1_000);
  assertEquals(await growthOf((round) => 5e6 - round), -1);
});

Deno.test("leastGrowth() finds a leak into a table that grows only by doubling", async () => {
  for (let entries = 1; entries < 2_000; entries += 7) {
    const growth = await growthOf((round) =>
      8 * 2 ** Math.ceil(Math.log2(round * entries))
    );
    // At least half of the entries' bytes.
    assertEquals(growth >= 4 * entries, true, `${entries} entries: ${growth}`);
  }
});

Deno.test("leastGrowth() passes over growth that happens once, whenever it does", async () => {
  for (let when = 1; when <= 8; when++) {
    assertEquals(await growthOf((round) => round < when ? 0 : 1e6), 0);
  }
});
