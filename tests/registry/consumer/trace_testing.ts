import { traceQuery } from "@quartet/kit/trace";
import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";
import { throws } from "node:assert/strict";

const { trace } = await recordTrace(() => {
  for (let id = 0; id < 2; id++) traceQuery("SELECT 1", () => []);
});
const check = expectTrace(trace).noErrors().queries({ max: 2 });
throws(() => check.queries({ repeated: 0 }), {
  name: "AssertionError",
  message: "Expected no repeated queries, found 1:\n  2 × SELECT ?",
});

console.log("@quartet/kit/trace/testing works");
