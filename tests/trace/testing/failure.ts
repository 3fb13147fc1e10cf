import { assert, assertEquals, assertThrows } from "@std/assert";
import type { TraceExpectation } from "@quartet/kit/trace/testing";

/** Returns the message of a failed check, after checking its error. */
export function failureOf(check: () => TraceExpectation): string {
  const error = assertThrows(check, Error);
  assert(!(error instanceof TypeError), error.message);
  assertEquals(error.name, "AssertionError");
  return error.message;
}
