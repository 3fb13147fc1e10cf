import { assertEquals, assertLess } from "@std/assert";

Deno.test("what a tracer holds does not grow after the first thousand of 100,000 requests", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      // Without the compilers, whose code would grow the heap on its own.
      "--v8-flags=--expose-gc,--no-opt,--no-maglev,--no-sparkplug",
      new URL("./drive_requests.ts", import.meta.url).href,
    ],
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const { held, traces, spans, heap } = JSON.parse(
    new TextDecoder().decode(stdout),
  );

  assertEquals(traces, 200);
  assertEquals(spans, 200 * 6);
  // Of each kind, what is alive: 200 stored, none of those that gave way.
  assertEquals(held, 200);
  // No object is smaller than 12 bytes: one left by each request is more.
  assertLess(heap.after - heap.before, 1024 * 1024);
});
