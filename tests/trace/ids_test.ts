import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  createTracer,
  generateSpanId,
  generateTraceId,
} from "@quartet/kit/trace";

Deno.test("generateTraceId() returns 32 lower-case hex digits, different each time", () => {
  const ids = Array.from({ length: 10_000 }, generateTraceId);
  for (const id of ids) assertMatch(id, /^[0-9a-f]{32}$/);
  assertEquals(new Set(ids).size, ids.length);
});

Deno.test("generateSpanId() returns 16 lower-case hex digits, different each time", () => {
  const ids = Array.from({ length: 10_000 }, generateSpanId);
  for (const id of ids) assertMatch(id, /^[0-9a-f]{16}$/);
  assertEquals(new Set(ids).size, ids.length);
});

Deno.test("createTracer() repeats the draw of an id while its random source returns zeros", () => {
  let calls = 0;
  const tracer = createTracer({
    random(bytes) {
      bytes.fill(++calls <= 2 ? 0 : 0x0f);
    },
  });

  const span = tracer.startTrace("job");

  assertEquals(span.traceId, "0f".repeat(16));
  assertEquals(span.id, "0f".repeat(8));
  span.end();
});

Deno.test("createTracer() takes all ids from the given random source", () => {
  const seeded = () => {
    let state = 1;
    return createTracer({
      random(bytes) {
        for (let i = 0; i < bytes.length; i++) {
          state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
          bytes[i] = state >>> 24;
        }
      },
    });
  };
  const idsOf = (tracer: ReturnType<typeof seeded>) =>
    Array.from({ length: 1_000 }, () => {
      const span = tracer.startTrace("job");
      const ids = [span.traceId, span.id, span.child("step", "custom").id];
      span.end();
      return ids;
    }).flat();

  const ids = idsOf(seeded());

  assertEquals(ids, idsOf(seeded()));
  assertEquals(new Set(ids).size, ids.length);
});

Deno.test("Span.id stays the same however often it is read", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("job");
  const child = root.child("step", "custom");

  assertEquals(root.id, root.id);
  assertEquals(child.traceId, root.traceId);
  assertNotEquals(child.id, root.id);
  root.end();
});
