import { assertEquals, assertLess } from "@std/assert";

Deno.test("A tracer's memory doesn't grow with 100,000 requests", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--v8-flags=--expose-gc,--no-opt",
      new URL("./drive_requests.ts", import.meta.url).href,
    ],
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const { requests, held, traces, spans, growth } = JSON.parse(
    new TextDecoder().decode(stdout),
  );

  assertEquals(requests, 100_000);
  assertEquals(traces, 200);
  assertEquals(spans, 200 * 6);
  // Live objects of each kind: 200 stored, none evicted.
  assertEquals(held, 200);
  // 10 bytes for each of a round's 12,500 requests. No object is smaller than
  // 12 bytes.
  assertLess(growth, 125_000);
});

for (const active of ["a span", "no span"]) {
  Deno.test(`A job that restarts itself after setActiveSpan() with ${active} keeps no memory`, async () => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-check",
        "--v8-flags=--expose-gc,--no-opt,--no-maglev,--no-sparkplug",
        new URL("./restart_job.ts", import.meta.url).href,
        active,
      ],
    }).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    const growth = Number(new TextDecoder().decode(stdout));
    // A round has 5,000 jobs. No object is smaller than 12 bytes, and each has
    // several.
    assertLess(growth, 60_000);
  });
}
