import { initClientTracing } from "@quartet/kit/trace/client";
import { equal } from "node:assert/strict";

const tracer = initClientTracing();
equal(tracer.withSpan("hydrate:Cart", "islands", () => 6), 6);

console.log("@quartet/kit/trace/client works");
