import { assertEquals } from "@std/assert";
import { TraceStore } from "../../trace/record/trace_store.ts";
import type { TraceRecord } from "../../trace/record/trace_record.ts";

const id = (digits: number, number: number) =>
  String(number).padStart(digits, "0");

Deno.test("Linked records that end without being stored don't fill the store", () => {
  const store = new TraceStore(2, 10);
  for (let i = 1; i <= 5; i++) {
    const link = { traceId: id(32, i + 100), spanId: id(16, i + 100) };
    store.start({
      id: id(32, i),
      root: { id: id(16, i) },
      links: [link],
    } as unknown as TraceRecord);
  }
  const kept = [1, 2, 3, 4, 5].filter((i) =>
    store.firstIdOf(id(32, i)) !== undefined
  );
  assertEquals(kept, [4, 5]);
});
