import { assert, assertEquals } from "@std/assert";
import {
  createSearch,
  haystackOf,
  nextPlace,
  normalizeQuery,
  spanMatches,
} from "../../viewer/model/search.ts";
import { summarize } from "../../viewer/model/summary.ts";
import { span, trace } from "./make_trace.ts";

const made = trace(span("GET /Shop", 0, 10, [
  span("db.query", 1, 2, [], {
    attributes: { text: "SELECT Walnut", rows: 42, hit: true },
    events: [{ name: "Retry", time: 1, attributes: { reason: "BUSY" } }],
  }),
]));

Deno.test("haystackOf() contains names, values and events in lower case", () => {
  const text = haystackOf(made);
  for (
    const part of ["get /shop", "select walnut", "42", "true", "retry", "busy"]
  ) {
    assert(text.includes(part), part);
  }
});

Deno.test("haystackOf() contains a repeated value once", () => {
  const twins = trace(
    span("x", 0, 1, [span("same", 0, 1), span("same", 0, 1)]),
  );
  assertEquals(haystackOf(twins).split("same").length, 2);
});

Deno.test("createSearch() finds nothing in traces that weren't added", () => {
  const search = createSearch();
  const entry = summarize(made);
  assert(!search.matches(entry, "walnut"));
  search.add(entry);
  assert(search.matches(entry, "walnut"));
});

Deno.test("createSearch() stays correct however the query changes", () => {
  const search = createSearch();
  const entry = summarize(made);
  search.add(entry);
  for (
    const [query, hit] of [
      ["w", true],
      ["wx", false],
      ["wxy", false],
      ["w", true],
      ["walnut", true],
      ["", true],
      ["zzz", false],
      ["shop", true],
      ["shop\nx", false],
    ] as const
  ) assertEquals(search.matches(entry, query), hit, query);
});

Deno.test("createSearch() doesn't find text that spans two values", () => {
  const search = createSearch();
  const entry = summarize(made);
  search.add(entry);
  assert(!search.matches(entry, "walnut42"));
});

Deno.test("spanMatches() searches one span only", () => {
  assert(spanMatches(made.spans[1]!, "busy"));
  assert(!spanMatches(made.spans[0]!, "busy"));
});

Deno.test("normalizeQuery() trims and lower-cases", () => {
  assertEquals(normalizeQuery("  WalNut "), "walnut");
});

Deno.test("nextPlace() wraps around in both directions", () => {
  assertEquals(nextPlace([2, 5, 9], -1, 1), 2);
  assertEquals(nextPlace([2, 5, 9], 5, 1), 9);
  assertEquals(nextPlace([2, 5, 9], 9, 1), 2);
  assertEquals(nextPlace([2, 5, 9], 2, -1), 9);
  assertEquals(nextPlace([], 2, 1), undefined);
});
