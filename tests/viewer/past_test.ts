import { assert, assertEquals } from "@std/assert";
import { spanHistory, timesOf } from "../../viewer/model/history.ts";
import { pastOf } from "../../viewer/model/past.ts";
import { query, span, trace } from "./make_trace.ts";

const runs = timesOf(Array.from({ length: 50 }, (_, i) => 1 + i));

Deno.test("pastOf() compares a duration with earlier runs", () => {
  const past = pastOf(100, runs)!;
  assertEquals(
    [past.count, past.faster, past.least, past.most, past.own],
    [50, 1, 1, 100, past.bars.length - 1],
  );
  assertEquals(past.bars.reduce((sum, bar) => sum + bar, 0), 50);

  const middle = pastOf(25, runs)!;
  assertEquals([middle.faster, middle.most], [0.48, 50]);
  assert(middle.own > 0 && middle.own < middle.bars.length - 1);
  assertEquals(pastOf(1, runs)?.faster, 0);
});

Deno.test("pastOf() returns nothing for few runs", () => {
  assertEquals(pastOf(5, timesOf([1, 2, 3, 4, 5, 6, 7, 8, 9])), undefined);
});

Deno.test("pastOf() accepts runs without a duration", () => {
  const past = pastOf(0, timesOf(Array(20).fill(0)))!;
  assertEquals([past.count, past.bars[0], past.own], [20, 20, 0]);
});

Deno.test("spanHistory() keeps the runs of a statement apart", () => {
  const made = trace(span("root", 0, 100, [
    query("SELECT a FROM b WHERE c = 1", 0, 5),
    query("SELECT a FROM b WHERE c = 2", 5, 12),
    query("DELETE FROM b", 20, 90),
    span("step", 90, 93),
  ]));
  const history = spanHistory();
  history.add(made);
  const [root, select, , , step] = made.spans;
  assertEquals([...history.sameAs(select!).durations], [5, 7]);
  assertEquals([...history.sameAs(step!).durations], [3]);
  assertEquals([...history.sameAs(root!).durations], [100]);
});
