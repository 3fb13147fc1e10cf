import {
  assert,
  assertEquals,
  assertLess,
  assertMatch,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import type { AttributeValue, Layer } from "../../../trace/types.ts";
import { createTracer, serializeTrace } from "../../../trace/mod.ts";
import {
  decodeBase64Portably,
  encodeBase64Portably,
} from "../../../core/bytes/base64.ts";
import { LAYERS, STATUSES } from "../../../trace/export/semantics.ts";
import { packTraces, unpackTraces } from "../../../trace/export/pack.ts";
import { indexTrace } from "../../../trace/export/trace_index.ts";
import { anyTrace } from "./any_trace.ts";
import { makeTrace } from "./make_trace.ts";
import { SeededRandom } from "./random.ts";
import { realisticTraces } from "./realistic.ts";

Deno.test("packTraces() and unpackTraces() return realistic traces exactly", async () => {
  const traces = realisticTraces(200, 20);
  const packed = await unpackTraces(await packTraces(traces));
  traces.forEach((trace, i) => assertEquals(packed.trace(i), trace));
});

Deno.test("packTraces() and unpackTraces() return any traces exactly", async () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = new SeededRandom(seed);
    const traces = Array.from(
      { length: random.below(6) },
      () => anyTrace(random),
    );
    const packed = await unpackTraces(await packTraces(traces));
    assertEquals(packed.index.length, traces.length);
    traces.forEach((trace, i) => {
      assertEquals(packed.trace(i), trace, `seed ${seed}, trace ${i}`);
      assertEquals(
        { ...packed.index[i], layers: [] },
        { ...indexTrace(trace), layers: [] },
        `seed ${seed}, index ${i}`,
      );
    });
  }
});

Deno.test("packTraces() and unpackTraces() return the tracer's records", async () => {
  const tracer = createTracer();
  const root = tracer.startTrace("GET /", "request", {
    attributes: { "http.request.method": "GET", "url.path": "/" },
    parentId: "00f067aa0ba902b7",
  });
  const child = root.child("db.query", "database", { __proto__x: 1 });
  child.event("row", { n: 1, ok: true });
  child.error(new Error("no such table"));
  child.end();
  root.child("never ends", "custom");
  root.end();
  tracer.mergeClientSpans(root.traceId, [{
    id: "00f067aa0ba902b8",
    parentId: root.id,
    name: "hydrate:Cart",
    layer: "islands",
    status: "ok",
    startTime: 1_760_000_000_000.1,
    endTime: 1_760_000_000_001.1,
    attributes: {},
    events: [],
  }]);
  const traces = tracer.getTraces().map(serializeTrace);
  const packed = await unpackTraces(await packTraces(traces));
  assertEquals(packed.trace(0), traces[0]);
  assertEquals(packed.index[0]?.errorCount, 2);
});

Deno.test("unpackTraces() returns the same index as indexTrace()", async () => {
  const traces = realisticTraces(50, 20);
  const packed = await unpackTraces(await packTraces(traces));
  assertEquals(packed.index, traces.map(indexTrace));
});

Deno.test("packTraces() keeps the sign of zero, huge numbers and every bit of a time", async () => {
  const attributes = { a: -0, b: 1e300, c: 2 ** 53 - 1, d: 2 ** 32, e: -7 };
  const time = 1_760_000_000_000 + 2 ** -12;
  const trace = makeTrace([{ attributes }]);
  const exact = { ...trace, startTime: time, endTime: time + 0.1 };
  const packed = await unpackTraces(await packTraces([exact]));
  const back = packed.trace(0);
  assertStrictEquals(back.spans[0]?.attributes.a, -0);
  assertEquals(back.spans[0]?.attributes, attributes);
  assertStrictEquals(back.startTime, time);
  assertStrictEquals(back.endTime, time + 0.1);
});

Deno.test("unpackTraces() treats __proto__ as a normal key", async () => {
  const attributes = JSON.parse('{"__proto__":"x","constructor":1}');
  const text = await packTraces([makeTrace([{ attributes }])]);
  const back = (await unpackTraces(text)).trace(0).spans[0]?.attributes ?? {};
  assertEquals(Object.keys(back), ["__proto__", "constructor"]);
  assertStrictEquals(Object.getPrototypeOf(back), Object.prototype);
});

Deno.test("packTraces() returns text that is safe in a script element", async () => {
  const name = "</script><!-- & \u2028";
  assertMatch(await packTraces([makeTrace([{ name }])]), /^[A-Za-z0-9+/]+=*$/);
});

Deno.test("packTraces() takes at most 39 bytes per span", async () => {
  // 8 MB for 200,000 spans, less 200 KB for the page itself.
  const text = await packTraces(realisticTraces(1000, 20));
  assertLess(text.length, 39 * 20_000);
});

Deno.test("packTraces() rejects traces that the format can't represent", async () => {
  const cases: [Parameters<typeof makeTrace>[0], string][] = [
    [[{ layer: "other" as Layer }], "layer of span 0000000000000001 must be"],
    [[{ status: "no" as "ok" }], "status of span 0000000000000001 must be"],
    [[{ duration: NaN }], "must be finite numbers, received NaN"],
    [[{ endTime: Infinity }], "must be finite numbers, received Infinity"],
    [
      [{ attributes: { a: null as unknown as AttributeValue } }],
      'must be strings, numbers or booleans, received null as "a"',
    ],
  ];
  for (const [spans, message] of cases) {
    const trace = makeTrace(spans);
    await assertRejects(() => packTraces([trace]), TypeError, message);
  }
});

Deno.test("unpackTraces() ignores space around the text", async () => {
  const text = await packTraces([makeTrace([{}])]);
  assertEquals((await unpackTraces(`\n  ${text}\n`)).index.length, 1);
});

Deno.test("trace() decodes each time and rejects an invalid index", async () => {
  const packed = await unpackTraces(await packTraces([makeTrace([{}])]));
  assert(packed.trace(0) !== packed.trace(0));
  for (const i of [1, -1, 0.5, NaN]) {
    assertThrows(
      () => packed.trace(i),
      RangeError,
      `i must be a place in an index of 1 traces, received ${i}`,
    );
  }
});

Deno.test("trace() returns an independent copy each time", async () => {
  const trace = makeTrace([{ attributes: { a: 1 } }]);
  const packed = await unpackTraces(await packTraces([trace]));
  (packed.trace(0).metadata as { origin: string }).origin = "changed";
  (packed.trace(0).spans[0]?.attributes as Record<string, number>).a = 2;
  assertEquals(packed.trace(0), trace);
});

Deno.test("base64 is the same with and without the engine's own functions", async () => {
  const text = await packTraces(realisticTraces(500, 20));
  const bytes = decodeBase64Portably(text);
  assertEquals(encodeBase64Portably(bytes), text);
  assertEquals(bytes, Uint8Array.fromBase64(text));
});

Deno.test("Packed traces number layers and statuses as existing files do", () => {
  assertEquals(
    LAYERS.join(),
    "request,routing,data,forms,signals,rpc,database,auth,islands,build,errors,custom",
  );
  assertEquals(STATUSES.join(), "ok,error,timeout");
});
