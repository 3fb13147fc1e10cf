/**
 * Runs jobs that restart themselves inside their spans, and prints the bytes of
 * heap that 5,000 of them leave behind. Started by memory_test.ts with
 * `--expose-gc`.
 */

import { createTracer, setActiveSpan } from "@quartet/kit/trace";
import { heapInUse, leastGrowth, MEASURED_AFTER } from "../leaks.ts";

const ROUND = 5_000;
const tracer = createTracer({ maxTraces: 1 });
const hasSpan = Deno.args[0] === "a span";
const heaps: number[] = [];
let jobs = 0;

/** Measures after each round, within the last job: all of them are one chain. */
function next(): void {
  if (jobs < ROUND * MEASURED_AFTER[heaps.length]!) return job();
  heapInUse().then((heap) => {
    heaps.push(heap);
    if (heaps.length < MEASURED_AFTER.length) job();
    else console.log(leastGrowth(heaps));
  });
}

function job(): void {
  jobs++;
  tracer.withSpan("job", "custom", (span) => {
    setActiveSpan(hasSpan ? span : undefined);
    // A task ends now and then, so that garbage is collected.
    if (jobs % 1_000 === 0) setTimeout(next);
    else queueMicrotask(next);
  });
}

job();
