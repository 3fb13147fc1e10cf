import { assertEquals } from "@std/assert";
import { createTestTracer, EPOCH, onlyTrace, rootOf } from "./fakes.ts";

Deno.test("A span's times are epoch milliseconds with fractions", () => {
  const { tracer, clock } = createTestTracer();
  clock.advance(1.25);
  const span = tracer.startTrace("job");
  clock.advance(2.5);
  span.end();

  const { startTime, endTime, duration } = onlyTrace(tracer);

  assertEquals(startTime, EPOCH + 1.25);
  assertEquals(endTime, EPOCH + 3.75);
  assertEquals(duration, 2.5);
});

Deno.test("Setting the wall clock while a trace runs changes no duration", () => {
  const { tracer, clock } = createTestTracer();
  const span = tracer.startTrace("job");
  clock.advance(5);
  clock.wallOffset = -3_600_000;
  clock.advance(5);
  span.event("noticed");
  span.end();

  const trace = onlyTrace(tracer);

  assertEquals(trace.duration, 10);
  assertEquals(trace.startTime, EPOCH);
  assertEquals(rootOf(trace).events[0]?.time, EPOCH + 10);
});

Deno.test("The next trace follows a wall clock that was set", () => {
  const { tracer, clock } = createTestTracer();
  tracer.startTrace("before").end();
  clock.wallOffset = 3_600_000;
  tracer.startTrace("after").end();
  clock.wallOffset = -3_600_000;
  tracer.startTrace("back").end();

  assertEquals(
    tracer.getTraces().map((trace) => trace.startTime - EPOCH),
    [0, 3_600_000, -3_600_000],
  );
});

Deno.test("Small steps of the wall clock don't affect the time line", () => {
  const { tracer, clock } = createTestTracer();
  tracer.startTrace("before").end();
  clock.wallOffset = 50;
  clock.advance(1);
  tracer.startTrace("after").end();

  assertEquals(
    tracer.getTraces().map((trace) => trace.startTime - EPOCH),
    [0, 1],
  );
});

Deno.test("Times are right after the machine has slept, though the monotonic clock stood still", () => {
  const { tracer, clock } = createTestTracer();
  clock.advance(10);
  tracer.startTrace("before").end();
  // Two hours pass, but not on the monotonic clock.
  clock.wallOffset += 7_200_000;
  tracer.startTrace("after").end();

  assertEquals(
    tracer.getTraces().map((trace) => trace.startTime - EPOCH),
    [10, 7_200_010],
  );
});

Deno.test("Span.elapsed() returns the time so far, and after the end the duration", () => {
  const { tracer, clock } = createTestTracer();
  const span = tracer.startTrace("job");
  clock.advance(3);
  assertEquals(span.elapsed(), 3);
  clock.advance(4);
  span.end();
  clock.advance(100);
  assertEquals(span.elapsed(), 7);
});
