import { assert, assertEquals } from "@std/assert";
import { NO_FILTERS } from "../../viewer/model/filters.ts";
import { LIST_COLUMNS, NEWEST_FIRST } from "../../viewer/model/listing.ts";
import {
  choiceOf,
  formatFilters,
  formatOrder,
  formatUrlState,
  isStep,
  parseFilters,
  parseOrder,
  parseUrlState,
  TRACE_VIEWS,
} from "../../viewer/model/url_state.ts";

const NOTHING = parseUrlState("");

Deno.test("A link restores the state it was created from", () => {
  const state = {
    ...NOTHING,
    trace: "4bf92f3577b34da6a3ce929d0e0e4736",
    span: "00f067aa0ba902b7",
    view: "flame",
    compare: "00f067aa0ba902b8",
    q: "a b&c=d",
  };
  assertEquals(parseUrlState(formatUrlState(state)), state);
  assertEquals(
    formatUrlState({ ...state, view: "", compare: "", q: "" }),
    "#trace=4bf92f3577b34da6a3ce929d0e0e4736&span=00f067aa0ba902b7",
  );
});

Deno.test("An invalid link shows the list", () => {
  assertEquals(Object.values(NOTHING).join(""), "");
  assertEquals(parseUrlState("#%%%&pie=1"), NOTHING);
  assertEquals(formatUrlState(NOTHING), "");
});

Deno.test("A link restores all filters", () => {
  const filters = {
    method: "POST",
    statusClasses: [2, 5],
    path: "/a b",
    layer: "database",
    minDuration: 12.5,
    errorsOnly: true,
    route: "POST /orders/:id",
  } as const;
  const hash = formatUrlState(formatFilters(filters));
  assertEquals(parseFilters(parseUrlState(hash)), filters);
  assertEquals(formatUrlState(formatFilters(NO_FILTERS)), "");
});

Deno.test("parseFilters() ignores invalid filters", () => {
  for (
    const hash of ["status=9xx,x", "layer=pie", "min=-3", "min=1e999", "min=x"]
  ) {
    assertEquals(
      parseFilters(parseUrlState(`#${hash}&errors=yes`)),
      NO_FILTERS,
    );
  }
});

Deno.test("A link restores the order of a table", () => {
  const parse = (text: string) => parseOrder(text, LIST_COLUMNS, NEWEST_FIRST);
  for (const descending of [true, false]) {
    const order = { column: "duration", descending } as const;
    assertEquals(parse(formatOrder(order, NEWEST_FIRST)), order);
  }
  assertEquals(formatOrder(NEWEST_FIRST, NEWEST_FIRST), "");
  for (const text of ["", "pie", "--path", "-"]) {
    assertEquals(parse(text), NEWEST_FIRST);
  }
});

Deno.test("choiceOf() returns the first choice for an unknown text", () => {
  assertEquals(choiceOf(TRACE_VIEWS, "flame"), "flame");
  assertEquals(choiceOf(TRACE_VIEWS, "pie"), "waterfall");
});

Deno.test("isStep() lets the back button undo steps, but not typing", () => {
  const step = (before: string, after: string) =>
    isStep(parseUrlState(before), parseUrlState(after));
  assert(step("", "#trace=1"));
  assert(step("#trace=1", ""));
  assert(step("#trace=1", "#trace=1&compare=2"));
  assert(step("", "#view=routes"));
  assert(step("", "#route=/a"));
  assert(!step("#trace=1", "#trace=2"));
  assert(!step("#path=/a", "#path=/ab"));
  assert(!step("", "#sort=duration"));
});
