/**
 * Runs a job that restarts itself inside its span, and prints the heap after the
 * first jobs and after 20,000 more, as JSON. Started by memory_test.ts with
 * `--expose-gc`.
 */

import { createTracer, setActiveSpan } from "@quartet/kit/trace";

declare const gc: () => void;

const tracer = createTracer({ maxTraces: 1 });
const hasSpan = Deno.args[0] === "a span";
const heaps: number[] = [];
let jobs = 0;

function job(): void {
  if (jobs % 20_000 === 5_000) {
    gc();
    heaps.push(Deno.memoryUsage().heapUsed);
  }
  const [before, after] = heaps;
  if (after !== undefined) {
    console.log(JSON.stringify({ before, after }));
    return;
  }
  jobs++;
  tracer.withSpan("job", "custom", (span) => {
    setActiveSpan(hasSpan ? span : undefined);
    // A task ends now and then, so that garbage is collected.
    if (jobs % 1_000 === 0) setTimeout(job);
    else queueMicrotask(job);
  });
}

job();
