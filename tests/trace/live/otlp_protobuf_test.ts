import { assert, assertEquals, assertMatch } from "@std/assert";
import { toOTLP } from "@quartet/kit/trace";
import type { SpanData } from "@quartet/kit/trace";
import { encodeTraces } from "../export/otlp_definitions.ts";
import { realisticTraces } from "../export/realistic.ts";
import {
  createRecorder,
  otlpSpan,
  PROTOBUF_TYPE,
  requestWith,
  START,
} from "./otlp_requests.ts";

const PROTOBUF = { "content-type": PROTOBUF_TYPE };

/** Returns the spans that a receiver reads from a request in both encodings. */
async function readBoth(
  request: object,
): Promise<readonly [json: SpanData[], protobuf: SpanData[]]> {
  const [json, protobuf] = [createRecorder(), createRecorder()];
  const answers = [
    await json.post("traces", request),
    await protobuf.post("traces", encodeTraces(request), PROTOBUF),
  ];
  for (const answer of answers) assertEquals(answer.status, 200);
  assertEquals(await answers[0]!.text(), "{}");
  assertEquals(await answers[1]!.text(), "");
  return [json.spans, protobuf.spans];
}

Deno.test("Protobuf from the official encoder gives the same spans as JSON", async () => {
  const [json, protobuf] = await readBoth(toOTLP(realisticTraces(20, 30)));
  assertEquals(json.length, 600);
  assertEquals(protobuf, json);
});

Deno.test("Each kind of value gives the same attribute in protobuf and in JSON", async () => {
  const kinds = {
    text: { stringValue: "naïve 💥\ufeff" },
    empty: { stringValue: "" },
    yes: { boolValue: true },
    no: { boolValue: false },
    zero: { intValue: "0" },
    small: { intValue: "-1" },
    middle: { intValue: "4294967296" },
    min: { intValue: "-9223372036854775808" },
    max: { intValue: "9223372036854775807" },
    half: { doubleValue: 0.5 },
    negative: { doubleValue: -1e300 },
    list: { arrayValue: { values: [{ intValue: "7" }, { stringValue: "a" }] } },
    map: {
      kvlistValue: { values: [{ key: "k", value: { boolValue: true } }] },
    },
    bytes: { bytesValue: "AAEC/w==" },
    none: {},
  };
  const attributes = Object.entries(kinds)
    .map(([key, value]) => ({ key, value }));
  const [json, protobuf] = await readBoth(requestWith(otlpSpan({
    attributes,
    events: [{ timeUnixNano: START, name: "e", attributes }],
    droppedAttributesCount: 3,
    droppedEventsCount: 300,
    status: { code: 2, message: "no tea" },
    parentSpanId: "00f067aa0ba902b8",
  })));
  assertEquals(protobuf, json);
  const [span] = protobuf;
  assertEquals(span!.attributes.max, "9223372036854775807");
  assertEquals(span!.attributes.list, '[7,"a"]');
  assertEquals(span!.status, "error");
  assertEquals(span!.droppedEvents, 300);
});

Deno.test("An empty request in protobuf is valid", async () => {
  const recorder = createRecorder();
  for (const path of ["traces", "logs", "metrics"]) {
    const response = await recorder.post(path, new Uint8Array(), PROTOBUF);
    assertEquals([response.status, await response.text()], [200, ""]);
    assertEquals(response.headers.get("content-type"), PROTOBUF_TYPE);
  }
});

const VALID = [...encodeTraces(requestWith(otlpSpan()))];

for (
  const [name, bytes, problem] of [
    ["a truncated varint", [0x0a, 0x80], "complete fields"],
    ["a truncated message", VALID.slice(0, -1), "complete fields"],
    ["a field that exceeds its message", [0x0a, 0x02, 0x12, 0x7f], "complete"],
    [
      "a length above 4 GiB",
      [0x0a, ...Array(9).fill(0xff), 0x01],
      "lengths of",
    ],
    ["an endless varint", [0x08, ...Array(11).fill(0x80)], "at most 10 bytes"],
    ["the field 0", [0x02, 0x00], "from number 1"],
    ["a group", [0x0b, 0x0c], "wire types 0, 1, 2 and 5"],
    ["the wire type 7", [0x7f, 0x00], "wire types 0, 1, 2 and 5"],
    ["JSON", [...new TextEncoder().encode('{"resourceSpans":[]}')], "protobuf"],
  ] as const
) {
  Deno.test(`Protobuf with ${name} is answered with 400 and a status message`, async () => {
    const recorder = createRecorder();
    const body = Uint8Array.from(bytes);
    const response = await recorder.post("traces", body, PROTOBUF);
    assertEquals(response.status, 400);
    assertEquals(response.headers.get("content-type"), PROTOBUF_TYPE);
    const status = new Uint8Array(await response.arrayBuffer());
    // google.rpc.Status: 1 is the code, 2 the message.
    assertEquals([...status.slice(0, 3)], [0x08, 3, 0x12]);
    const message = new TextDecoder().decode(status.slice(4));
    assertMatch(message, /^Cannot read OTLP: the body must be protobuf with /);
    assert(message.includes(problem), message);
    assertEquals(recorder.spans, []);
  });
}

Deno.test("Unknown fields, and known ones of another wire type, are skipped", async () => {
  const recorder = createRecorder();
  const resourceSpans = VALID.slice(lengthOf(VALID, 1).end);
  const extra = [
    // Fields 100, 101, 102 and 103: an integer, 4 bytes, 8 bytes and a text.
    ...[0xa0, 0x06, 0x05],
    ...[0xad, 0x06, 1, 2, 3, 4],
    ...[0xb1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],
    ...[0xba, 0x06, 1, 0x41],
    // The resource as an integer.
    ...[0x08, 0x07],
  ];
  const inside = [...resourceSpans, ...extra];
  const body = [0x0a, ...varint(inside.length), ...inside, ...extra];
  const response = await recorder.post(
    "traces",
    Uint8Array.from(body),
    PROTOBUF,
  );
  assertEquals([response.status, await response.text()], [200, ""]);
  assertEquals(recorder.spans.map(({ name }) => name), ["pack"]);
});

/** Reads the varint at an index. */
function lengthOf(bytes: readonly number[], index: number) {
  let end = index;
  while (bytes[end]! >= 0x80) end++;
  return { end: end + 1 };
}

/** Returns the bytes of a length below 16,384. */
function varint(length: number): number[] {
  return length < 0x80 ? [length] : [length & 0x7f | 0x80, length >> 7];
}

Deno.test("Text in protobuf that isn't UTF-8 is read with U+FFFD", async () => {
  const recorder = createRecorder();
  const [p, a, c, k] = new TextEncoder().encode("pack");
  const at = VALID.findIndex((byte, i) =>
    byte === p && VALID[i + 1] === a && VALID[i + 2] === c && VALID[i + 3] === k
  );
  const body = Uint8Array.from(VALID.with(at, 0xff));
  const response = await recorder.post("traces", body, PROTOBUF);
  assertEquals([response.status, await response.text()], [200, ""]);
  assertEquals(recorder.spans[0]!.name, "\ufffdack");
});

Deno.test("Values nested too deeply cost their span, and at worst the request", async () => {
  for (
    const [depth, status, names] of [
      [60, 200, ["deep", "pack"]],
      [80, 200, ["pack"]],
      [300, 400, []],
    ] as const
  ) {
    let value: object = { intValue: "7" };
    for (let i = 0; i < depth; i++) value = { arrayValue: { values: [value] } };
    const deep = otlpSpan({
      spanId: "00f067aa0ba902b9",
      name: "deep",
      attributes: [{ key: "a", value }],
    });
    const recorder = createRecorder();
    const body = encodeTraces(requestWith(deep, otlpSpan()));
    const response = await recorder.post("traces", body, PROTOBUF);
    await response.body?.cancel();
    assertEquals(response.status, status);
    assertEquals(recorder.spans.map(({ name }) => name), [...names]);
  }
});
