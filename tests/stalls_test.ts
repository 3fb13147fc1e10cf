import { assert, assertEquals, assertRejects } from "@std/assert";
import { type StallWatch, unlessStalled, watchStalls } from "./stalls.ts";

/** Captures calls of `console.warn` until the end of the block. */
function captureWarnings() {
  const { warn } = console;
  const lines: string[] = [];
  console.warn = (line: string) => void lines.push(line);
  return { lines, [Symbol.dispose]: () => void (console.warn = warn) };
}

/** Returns a watch that sees stalls of these lengths, one after another. */
function seeing(...stalls: number[]): () => StallWatch {
  return () => ({ longest: stalls.shift()!, [Symbol.dispose]() {} });
}

/** A test that fails in its first attempts. */
function failing(times: number) {
  let attempts = 0;
  return {
    get attempts() {
      return attempts;
    },
    async run() {
      await Promise.resolve();
      if (attempts++ < times) throw new Error(`failure ${attempts}`);
    },
  };
}

Deno.test("unlessStalled() repeats a test that failed while the machine stalled", async () => {
  using warnings = captureWarnings();
  const test = failing(2);
  await unlessStalled(test.run, seeing(900, 60, 0))();
  assertEquals(test.attempts, 3);
  assertEquals(warnings.lines, [
    "The machine stalled for 900 ms. Repeating a test that failed: Error: failure 1",
    "The machine stalled for 60 ms. Repeating a test that failed: Error: failure 2",
  ]);
});

Deno.test("unlessStalled() fails at once if the machine kept up, and after some attempts if it never does", async () => {
  using warnings = captureWarnings();
  for (
    const [stalls, attempts] of [
      [[40], 1],
      [[900, 40], 2],
      [Array<number>(10).fill(900), 3],
    ] as const
  ) {
    const test = failing(Infinity);
    await assertRejects(
      unlessStalled(test.run, seeing(...stalls)),
      Error,
      `failure ${attempts}`,
    );
    assertEquals(test.attempts, attempts);
  }
  assertEquals(warnings.lines.length, 3);
});

Deno.test("watchStalls() notices that nothing could run for a while", async () => {
  using stalls = watchStalls();
  await new Promise((resolve) => setTimeout(resolve));
  const end = performance.now() + 50;
  while (performance.now() < end);
  assert(stalls.longest >= 40, `${stalls.longest} ms`);
});
