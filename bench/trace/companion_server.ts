/**
 * A server with ten spans per request, for `companion.ts`. The dev command serves
 * the default export. Run as a program, it traces and prints by itself. The
 * argument is the port.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import {
  createCLIReporter,
  createTracer,
  getActiveSpan,
  tracePlugin,
} from "@quartet/kit/trace";

const CHILDREN = 9;

function hello(): Response {
  const root = getActiveSpan()!;
  for (let i = 0; i < CHILDREN; i++) {
    root.child("db.query", "database", { a: "b", c: i }).end();
  }
  return new Response("Hello, world!");
}

export default { fetch: hello };

if (import.meta.main) {
  // The limits of the dev command.
  const tracer = createTracer({ maxTraces: 1_000, maxSpansPerTrace: 2_000 });
  createCLIReporter(tracer);
  const host = createApp({ trace: tracePlugin(tracer) }).use(hello);
  await host.serve({ port: Number(Deno.args[0]) });
}
