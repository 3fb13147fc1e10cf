import { assertEquals } from "@std/assert";
import { summarize } from "../../viewer/model/summary.ts";
import {
  addEntries,
  clearEntries,
  entries,
  findEntry,
  held,
  receiveEntries,
  togglePaused,
} from "../../viewer/state/traces.ts";
import { span, trace } from "./make_trace.ts";

const one = summarize(trace(span("one", 0, 10)));
const two = summarize(trace(span("two", 5, 15)));
/** An entry after a browser has added to its trace. */
const update = summarize(trace(span("two", 5, 15, [span("page:load", 6, 9)])));

Deno.test("receiveEntries() shows a trace once if its end and update arrive together", () => {
  addEntries([one]);
  receiveEntries([two, update]);
  assertEquals(entries.value, [one, update]);
  assertEquals(findEntry(two.key), update);
  clearEntries();
});

Deno.test("receiveEntries() replaces known entries, shown or held back", () => {
  addEntries([two, one]);
  receiveEntries([update]);
  assertEquals(entries.value, [update, one]);
  clearEntries();

  togglePaused();
  receiveEntries([two]);
  receiveEntries([one, update]);
  assertEquals([entries.value, held.value], [[], [update, one]]);
  togglePaused();
  assertEquals([entries.value, held.value], [[update, one], []]);
  clearEntries();
});
