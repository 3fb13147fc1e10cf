import { assertEquals } from "@std/assert";
import type { SerializedTrace } from "../../trace/types.ts";
import { summarize } from "../../viewer/model/summary.ts";
import { listed, listOrder, newText } from "../../viewer/state/listing.ts";
import {
  addEntries,
  addPending,
  clearEntries,
  discardPending,
  entries,
  findEntry,
  held,
  pending,
  receiveEntries,
  setListInUse,
  togglePaused,
} from "../../viewer/state/traces.ts";
import { type Sketch, span, trace } from "./make_trace.ts";

/** Creates a trace with another id. Span ids are names with that id. */
function traced(id: string, root: Sketch): SerializedTrace {
  const made = trace(root);
  return {
    ...made,
    id,
    spans: made.spans.map((span) => ({ ...span, traceId: id })),
  };
}

/** Returns the entry of a trace with an id and a tree. */
function entryOf(id: string, root: Sketch) {
  return summarize(traced(id, root));
}

const one = entryOf("one", span("one", 0, 10));
const two = entryOf("two", span("two", 5, 15));
/** An entry after a browser has added to its trace. */
const update = entryOf("two", span("two", 5, 15, [span("page:load", 6, 9)]));

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const LINKED = "0af7651916cd43dd8448eb211c80319c";

/** A page load that links to the server's request of another trace. */
const page = entryOf(
  TRACE,
  span("page:load", 0, 100, [], {
    id: "a".repeat(16),
    attributes: {
      "app.origin": "client",
      "app.action": "load",
      "url.path": "/countries",
      "app.link": `00-${LINKED}-${"b".repeat(16)}-01`,
    },
  }),
);
const request = entryOf(
  LINKED,
  span("GET /countries", 20, 40, [], {
    id: "b".repeat(16),
    layer: "request",
    attributes: {
      "http.request.method": "GET",
      "url.path": "/countries",
      "http.response.status_code": 200,
    },
  }),
);

/** Runs a test with no traces before and after it. */
function testTraces(name: string, run: () => void): void {
  Deno.test(name, () => {
    try {
      run();
    } finally {
      setListInUse(false);
      clearEntries();
    }
  });
}

function keys(list: readonly { readonly key: string }[]): string {
  return list.map(({ key }) => key).join(" ");
}

testTraces(
  "receiveEntries() shows a trace once if its end and update arrive together",
  () => {
    addEntries([one]);
    receiveEntries([two, update]);
    assertEquals(entries.value, [one, update]);
    assertEquals(findEntry(two.key), update);
  },
);

testTraces(
  "receiveEntries() replaces known entries, shown or held back",
  () => {
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
  },
);

testTraces("addEntries() joins the pieces of a trace from two files", () => {
  const caller = span("GET /a", 0, 100, [span("fetch", 10, 90)]);
  const called = span("GET /b", 20, 80, [span("db", 30, 40)]);
  const second = traced("t", called);
  const pieces = [
    entryOf("t", caller),
    summarize({
      ...second,
      spans: second.spans.map((span) =>
        span.id === "GET /b" ? { ...span, parentId: "fetch" } : span
      ),
    }),
  ];
  for (const [first, last] of [pieces, pieces.toReversed()]) {
    assertEquals(addEntries([first!]), { fresh: 1, joined: 0, same: 0 });
    assertEquals(addEntries([last!]), { fresh: 0, joined: 1, same: 0 });
    const [joined] = entries.value;
    assertEquals(entries.value.length, 1);
    assertEquals(joined!.spanCount, 4);
    assertEquals([joined!.rootSpanId, joined!.duration], ["GET /a", 100]);
    // Neither piece adds anything a second time.
    assertEquals(addEntries([first!, last!]), { fresh: 0, joined: 0, same: 2 });
    assertEquals(entries.value[0]!.spanCount, 4);
    clearEntries();
  }
});

testTraces("addEntries() joins pieces whose spans come later", () => {
  let isRead = false;
  const pieces = ["a", "b"].map((name) => {
    const entry = entryOf("t", span(name, 0, 10));
    const load = () => {
      if (isRead) return entry.load();
      throw new TypeError("not read yet");
    };
    return { ...entry, load };
  });
  addEntries(pieces);
  assertEquals(entries.value.length, 1);
  isRead = true;
  addEntries(pieces);
  assertEquals(entries.value.map(({ spanCount }) => spanCount), [2]);
});

testTraces(
  "addEntries() makes one row of a page and the request it links to",
  () => {
    for (const order of [[page, request], [request, page]]) {
      addEntries([one]);
      for (const entry of order) addEntries([entry]);
      assertEquals(keys(entries.value), `one ${TRACE}`);
      const [, joined] = entries.value;
      assertEquals(joined!.kind, "page load");
      assertEquals(joined!.spanCount, 2);
      assertEquals(joined!.statusCode, 200);
      for (const id of [TRACE, LINKED, "a".repeat(16)]) {
        assertEquals(findEntry(id), joined);
      }
      clearEntries();
    }
  },
);

testTraces("A running request is a row until its trace has one", () => {
  const running = { ...two, pending: true };
  addPending([running]);
  assertEquals([...listed.value], [running]);
  receiveEntries([two]);
  assertEquals([...listed.value], [two]);
  assertEquals(pending.value, []);

  // Another request of the same trace.
  const later = entryOf("two", span("later", 20, 20));
  addPending([{ ...later, pending: true }]);
  assertEquals([...listed.value], [two]);
  receiveEntries([update]);
  assertEquals(pending.value.length, 1);
  discardPending(new Set(["later"]));
  assertEquals(pending.value, []);
});

testTraces("Rows keep their places while the list is in use", () => {
  const running = { ...entryOf("run", span("run", 30, 30)), pending: true };
  addEntries([one, two]);
  addPending([running]);
  assertEquals(keys(listed.value), "run two one");
  setListInUse(true);
  receiveEntries([entryOf("three", span("three", 40, 50))]);
  assertEquals(keys(listed.value), "run two one");
  assertEquals(newText.value, "1 new");
  // The running request ends, and another one starts.
  receiveEntries([entryOf("run", span("run", 30, 35))]);
  addPending([{ ...entryOf("late", span("late", 60, 60)), pending: true }]);
  assertEquals(keys(listed.value), "run two one");
  assertEquals(listed.value[0]!.pending, false);
  // A trace that begins earlier than before stays at its place.
  receiveEntries([entryOf("two", span("load", -5, 15, [span("two", 5, 15)]))]);
  assertEquals(keys(listed.value), "run two one");
  assertEquals(listed.value[1]!.spanCount, 2);
  assertEquals(newText.value, "2 new");

  setListInUse(false);
  assertEquals(keys(listed.value), "late three run one two");
  assertEquals(newText.value, "");
});

testTraces("Sorting moves rows although the list is in use", () => {
  const before = listOrder.value;
  addEntries([one, entryOf("long", span("long", -20, 90))]);
  setListInUse(true);
  assertEquals(keys(listed.value), "one long");
  listOrder.value = { column: "duration", descending: true };
  assertEquals(keys(listed.value), "long one");
  listOrder.value = before;
});
