import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import {
  type AttributeValue,
  createTracer,
  serializeTrace,
  type Span,
  type SpanData,
} from "@quartet/kit/trace";
import { createTestTracer, onlyTrace, rootOf } from "./fakes.ts";

const MEGABYTE = 1024 * 1024;

/** Returns the record of a span that `fill` has written to. */
function record(fill: (span: Span) => void): SpanData {
  const tracer = createTracer();
  const span = tracer.startTrace("job");
  fill(span);
  span.end();
  return rootOf(onlyTrace(tracer));
}

/** Returns the size of a trace that `fill` has written to, in characters. */
function sizeOf(fill: (root: Span) => void): number {
  const tracer = createTracer();
  const span = tracer.startTrace("job");
  fill(span);
  span.end();
  return JSON.stringify(serializeTrace(onlyTrace(tracer))).length;
}

Deno.test("10,000 children in one trace are bounded, and the rest is counted", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("job");
  const spans = Array.from(
    { length: 10_000 },
    (_, i) => root.child(`child ${i}`, "custom", { n: i }),
  );
  for (const span of spans) span.end();
  root.end();

  const trace = onlyTrace(tracer);

  assertEquals(trace.spans.size, 500);
  assertEquals(rootOf(trace).children.length, 499);
  assertEquals(trace.metadata.droppedSpans, 9_501);
});

Deno.test("The children of a dropped span belong to the recorded span above it", () => {
  const tracer = createTracer({ maxSpansPerTrace: 2 });
  tracer.withSpan("root", "request", () => {
    tracer.withSpan("fits", "custom", (fits) => {
      tracer.withSpan("too many", "custom", (dropped) => {
        assertEquals(dropped.id, fits.id);
        assertEquals(dropped.child("too many", "custom").id, fits.id);
      });
    });
  });
  assertEquals(onlyTrace(tracer).metadata.droppedSpans, 2);
  assertEquals(onlyTrace(tracer).spans.size, 2);
});

Deno.test("A dropped span uses the time and the continuation of the recorded span above it", () => {
  const { tracer, clock } = createTestTracer({ maxSpansPerTrace: 2 });
  const root = tracer.startTrace("root");
  const fits = root.child("fits", "custom");
  clock.advance(5);
  const dropped = fits.child("too many", "custom");
  clock.advance(2);
  assertEquals(dropped.elapsed(), 7);
  const open = dropped.continuation();
  fits.end();
  root.end();
  const parents: unknown[] = [];
  tracer.subscribe((event) => {
    if ("trace" in event) parents.push(rootOf(event.trace).parentId);
  }, ["trace:end"]);
  open("later", "rpc").end();
  assertEquals(parents, [fits.id]);
});

Deno.test("An attribute value of a megabyte is shortened and states by how much", () => {
  const { attributes } = record((span) =>
    span.setAttribute("large", "x".repeat(MEGABYTE))
  );
  assertEquals(
    attributes.large,
    `${"x".repeat(4096)}… (${MEGABYTE - 4096} more characters)`,
  );
});

Deno.test("An attribute value of exactly the allowed length is kept whole", () => {
  const { attributes } = record((span) =>
    span.setAttribute("fits", "x".repeat(4096))
  );
  assertEquals(attributes.fits, "x".repeat(4096));
});

Deno.test("A megabyte in every attribute of every span stays within the bound of a trace", () => {
  const large = "x".repeat(MEGABYTE);
  const size = sizeOf((root) => {
    for (let i = 0; i < 1_000; i++) {
      const span = root.child(large, "custom");
      for (let k = 0; k < 70; k++) span.setAttribute(`key ${k}`, large);
      span.event(large, { [large]: large });
      span.error(new Error(large));
      span.end();
    }
  });
  assertLess(size, 2.5 * MEGABYTE);
});

Deno.test("Text converted from other values counts towards the bound of a trace", () => {
  const list = Array.from({ length: 10_000 }, (_, i) => i);
  const size = sizeOf((root) => {
    for (let i = 0; i < 400; i++) {
      const span = root.child("child", "custom");
      for (let k = 0; k < 60; k++) {
        span.setAttribute(`key ${k}`, list as unknown as string);
      }
      span.end();
    }
  });
  assertLess(size, 2.5 * MEGABYTE);
});

Deno.test("Attributes that don't fit into a trace are counted", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("job");
  for (let i = 0; i < 10; i++) {
    const span = root.child("child", "custom");
    for (let k = 0; k < 64; k++) span.setAttribute(`k${k}`, "x".repeat(4000));
    span.end();
  }
  root.end();

  const spans = [...onlyTrace(tracer).spans.values()];
  let kept = 0;
  let dropped = 0;
  for (const span of spans) {
    kept += Object.keys(span.attributes).length;
    dropped += span.droppedAttributes ?? 0;
  }

  assertEquals(kept + dropped, 640);
  assert(kept > 250 && kept < 270, `${kept} attributes kept`);
});

Deno.test("100,000 events in one span are bounded, and the rest is counted", () => {
  const { events, droppedEvents } = record((span) => {
    for (let i = 0; i < 100_000; i++) span.event(`event ${i}`);
    span.error(new Error("too many"));
  });
  assertEquals(events.length, 128);
  assertEquals(events[0]?.name, "event 0");
  // Why the span failed isn't lost.
  assertEquals(events[127]?.name, "exception");
  assertEquals(droppedEvents, 100_001 - 128);
});

Deno.test("A span keeps 64 attributes and counts the rest", () => {
  const { attributes, droppedAttributes } = record((span) => {
    for (let i = 0; i < 100; i++) span.setAttribute(`key ${i}`, i);
  });
  assertEquals(Object.keys(attributes).length, 64);
  assertEquals(attributes["key 63"], 63);
  assertEquals(droppedAttributes, 36);
});

Deno.test("An event keeps 16 attributes, and the span counts the rest", () => {
  const { events, droppedAttributes } = record((span) => {
    span.event(
      "many",
      Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`key ${i}`, i])),
    );
  });
  assertEquals(Object.keys(events[0]!.attributes!).length, 16);
  assertEquals(droppedAttributes, 4);
});

Deno.test("A record without losses has no counters", () => {
  const data = record((span) => span.setAttribute("a", 1));
  assertEquals("droppedAttributes" in data, false);
  assertEquals("droppedEvents" in data, false);
});

Deno.test("Long names and keys are shortened and state by how much", () => {
  const long = "n".repeat(MEGABYTE);
  const tracer = createTracer();
  const root = tracer.startTrace(long);
  root.setAttribute(long, 1);
  root.event(long, { [long]: 2 });
  root.end();

  const { name, attributes, events } = rootOf(onlyTrace(tracer));

  const shortName = `${"n".repeat(256)}… (${MEGABYTE - 256} more characters)`;
  const shortKey = `${"n".repeat(128)}… (${MEGABYTE - 128} more characters)`;
  assertEquals(name, shortName);
  assertEquals(attributes, { [shortKey]: 1 });
  assertEquals(events[0]?.name, shortName);
  assertEquals(events[0]?.attributes, { [shortKey]: 2 });
});

Deno.test("An attribute that is set a million times has the last value", () => {
  const { attributes, droppedAttributes } = record((span) => {
    for (let i = 0; i <= 1_000_000; i++) span.setAttribute("n", i);
  });
  assertEquals(attributes, { n: 1_000_000 });
  assertEquals(droppedAttributes, undefined);
});

Deno.test("Text that is set a million times has the last value", () => {
  const { attributes, droppedAttributes } = record((span) => {
    for (let i = 0; i <= 1_000_000; i++) span.setAttribute("n", `value ${i}`);
  });
  assertEquals(attributes, { n: "value 1000000" });
  assertEquals(droppedAttributes, undefined);
});

Deno.test("An attribute that alternates between text and number has the last value", () => {
  const { attributes, droppedAttributes } = record((span) => {
    for (let i = 0; i < 10_000; i++) {
      span.setAttribute("n", "x".repeat(4000));
      span.setAttribute("n", i);
    }
    span.setAttribute("other", "there is room");
  });
  assertEquals(attributes, { n: 9_999, other: "there is room" });
  assertEquals(droppedAttributes, undefined);
});

Deno.test("A long key that is set repeatedly is one attribute with the last value", () => {
  const key = "k".repeat(1_000);
  const { attributes, droppedAttributes } = record((span) => {
    for (let i = 0; i <= 10_000; i++) span.setAttribute(key, i);
  });
  assertEquals(Object.values(attributes), [10_000]);
  assertEquals(droppedAttributes, undefined);
});

Deno.test("Shortening never splits a surrogate pair", () => {
  const { attributes } = record((span) =>
    span.setAttribute("text", "a" + "😀".repeat(4096))
  );
  const text = String(attributes.text);
  assert(text.isWellFormed());
  assertMatch(text, /😀… \(\d+ more characters\)$/);
});

Deno.test("Lone surrogates are kept without breaking the record's JSON", () => {
  const tracer = createTracer();
  const span = tracer.startTrace("\ud800");
  span.setAttribute("\udfff", "\ud800".repeat(5_000));
  span.event("\ud800");
  span.end();
  const json = JSON.stringify(serializeTrace(onlyTrace(tracer)));
  assertEquals(JSON.parse(json).spans[0].name, "\ud800");
  assert(json.isWellFormed());
});

Deno.test("Names of members of all objects are normal keys", () => {
  const keys = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const { attributes, events } = record((span) => {
    for (const key of keys) span.setAttribute(key, key);
    span.event("e", JSON.parse('{ "__proto__": 1, "constructor": 2 }'));
  });
  assertEquals<unknown>(
    Object.entries(attributes),
    keys.map((key) => [key, key]),
  );
  assertEquals(Object.entries(events[0]!.attributes!), [
    ["__proto__", 1],
    ["constructor", 2],
  ]);
});

Deno.test("An undefined value isn't recorded", () => {
  const { attributes, events, droppedAttributes } = record((span) => {
    span.setAttribute("a", undefined as unknown as string);
    span.event("e", { b: undefined });
  });
  assertEquals(attributes, {});
  assertEquals(events[0]?.attributes, {});
  assertEquals(droppedAttributes, undefined);
});

Deno.test("Values that JSON can't represent become text, and nothing throws", () => {
  const values: [unknown, AttributeValue][] = [
    [NaN, "NaN"],
    [Infinity, "Infinity"],
    [-Infinity, "-Infinity"],
    [10n, "10"],
    [null, "null"],
    [Symbol("s"), "Symbol(s)"],
    [{ a: 1 }, "[object Object]"],
    [[1, 2], "1,2"],
    [new Date(NaN), "Invalid Date"],
    [Object.create(null), "(a value that can't be turned into text)"],
    [{
      toString() {
        throw new Error("no");
      },
    }, "(a value that can't be turned into text)"],
    [-0, -0],
    [false, false],
    ["", ""],
  ];
  for (const [value, expected] of values) {
    const { attributes, events } = record((span) => {
      span.setAttribute("v", value as AttributeValue);
      span.event("e", { v: value as AttributeValue });
    });
    assertEquals(attributes, { v: expected });
    assertEquals(events[0]?.attributes, { v: expected });
  }
});

Deno.test("A key that isn't a string is left out and counted, and takes no room", () => {
  const { attributes, droppedAttributes } = record((span) => {
    span.setAttribute(Symbol("key") as unknown as string, 1);
    span.setAttribute("text", "x");
  });
  assertEquals(attributes, { text: "x" });
  assertEquals(droppedAttributes, 1);
});

Deno.test("Events and numbers in every span of a trace are bounded and counted", () => {
  const tracer = createTracer();
  const numbers = { a: 1.5, b: 2.5, c: 3.5, d: 4.5, e: 5.5, f: 6.5, g: 7.5 };
  const root = tracer.startTrace("job");
  for (let i = 1; i < 500; i++) {
    const span = root.child("child", "custom");
    for (let k = 0; k < 128; k++) span.event("", numbers);
    span.end();
  }
  root.end();

  let kept = 0;
  let dropped = 0;
  for (
    const { events, droppedEvents = 0 } of onlyTrace(tracer).spans.values()
  ) {
    kept += events.length;
    dropped += droppedEvents;
  }
  assertEquals(kept + dropped, 499 * 128);
  assert(kept < 25_000, `${kept} events kept`);
});

Deno.test("A request that fills its trace still has its status, route and error", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("GET /");
  for (let k = 0; k < 64; k++) root.setAttribute(`header ${k}`, "x");
  for (let i = 0; i < 400; i++) {
    const span = root.child("db.query", "database");
    span.setAttribute("db.query.text", "x".repeat(4000));
    span.end();
  }
  root.setAttribute("http.route", "/");
  root.setAttribute("http.response.status_code", 500);
  root.event("log", { "log.body": "x".repeat(4000) });
  root.error(new TypeError("too much"));
  root.end();

  const trace = onlyTrace(tracer);
  assertEquals(trace.metadata.statusCode, 500);
  assertEquals(trace.metadata.routePattern, "/");
  const { attributes, events, droppedEvents } = rootOf(trace);
  assertEquals(attributes["error.type"], "TypeError");
  assertEquals(
    events.map(({ attributes }) => attributes?.["exception.message"]),
    ["too much"],
  );
  assertEquals(droppedEvents, 1);
});
