import { createTracer, traceLoader } from "@quartet/kit/trace/noop";
import { equal } from "node:assert/strict";

equal(traceLoader("answer", () => 42), 42);
equal(createTracer().getTraces().length, 0);

console.log("@quartet/kit/trace/noop works");
