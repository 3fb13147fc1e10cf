import { createApp } from "@quartet/kit/app";
import {
  createTracer,
  exportTracesHTML,
  tracePlugin,
  traceQuery,
} from "@quartet/kit/trace";
import type { TraceData } from "@quartet/kit/trace";
import { equal, match } from "node:assert/strict";

const tracer = createTracer();
const app = createApp({
  trace: tracePlugin(tracer),
  routes: [{ path: "/", loader: () => traceQuery("SELECT 1", () => [1]) }],
});
const response = await app.fetch(new Request("http://localhost/"));
await response.body?.cancel();
await app.close();

const [trace]: TraceData[] = tracer.getTraces();
equal(trace?.metadata.routePattern, "/");
match(await exportTracesHTML(tracer), /^<!DOCTYPE html>/);

console.log("@quartet/kit/trace works");
