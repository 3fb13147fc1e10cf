import { assertEquals, assertLess } from "@std/assert";

Deno.test("A tracer's memory doesn't grow after the first thousand of 100,000 requests", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      // The other compilers are done after a thousand requests.
      "--v8-flags=--expose-gc,--no-opt",
      new URL("./drive_requests.ts", import.meta.url).href,
    ],
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const { held, traces, spans, heap } = JSON.parse(
    new TextDecoder().decode(stdout),
  );

  assertEquals(traces, 200);
  assertEquals(spans, 200 * 6);
  // Live objects of each kind: 200 stored, none evicted.
  assertEquals(held, 200);
  // No object is smaller than 12 bytes, so one leaked per request would be
  // more.
  assertLess(heap.after - heap.before, 1024 * 1024);
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
    const { before, after } = JSON.parse(new TextDecoder().decode(stdout));
    // 20,000 jobs. No object is smaller than 12 bytes, and each has several.
    assertLess(after - before, 240_000);
  });
}
