import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { toOTLP } from "@quartet/kit/trace";
import type { SpanData } from "@quartet/kit/trace";
import { gzip } from "../../../trace/export/gzip.ts";
import { encodeTraces } from "../../trace/export/otlp_definitions.ts";
import { realisticTraces } from "../../trace/export/realistic.ts";
import {
  createRecorder,
  otlpSpan,
  PROTOBUF_TYPE,
  requestWith,
} from "../../trace/live/otlp_requests.ts";
import { anyJSON } from "../input/json.ts";
import { applyEdits, edits } from "../input/mutate.ts";
import { defineTarget } from "../target.ts";

const text = fc.string({ unit: "grapheme", maxLength: 12 });

/** A value of an attribute, as OTLP/JSON. */
const { value } = fc.letrec<{ value: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.record({ stringValue: text }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({
      intValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
        .map(String),
    }),
    fc.record({
      doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }),
    }),
    fc.uint8Array({ maxLength: 12 })
      .map((bytes) => ({ bytesValue: bytes.toBase64() })),
    fc.array(tie("value"), { maxLength: 3 })
      .map((values) => ({ arrayValue: { values } })),
    fc.array(fc.record({ key: text, value: tie("value") }), { maxLength: 3 })
      .map((values) => ({ kvlistValue: { values } })),
  ),
}));

const attributes = fc.array(fc.record({ key: text, value }), { maxLength: 4 });

const nanos = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);

const span = fc.record({
  name: text,
  kind: fc.nat(5),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes,
  events: fc.array(
    fc.record({ name: text, timeUnixNano: nanos, attributes }),
    { maxLength: 3 },
  ),
  droppedEventsCount: fc.nat(),
}).map(otlpSpan);

const input = fc.record({
  path: fc.constantFrom("traces", "traces", "logs"),
  isProtobuf: fc.boolean(),
  isZipped: fc.boolean(),
  content: fc.oneof(
    fc.array(span, { maxLength: 3 }).map((spans) => requestWith(...spans)),
    fc.nat().map((seed) => toOTLP(realisticTraces(1, 4, seed))),
  ),
  /** JSON in its place. */
  foreign: fc.option(anyJSON, { freq: 5 }),
  /** Changes to the bytes. */
  changes: fc.oneof(fc.constant([]), edits),
});

/** Requests of other services, to the receiver of OTLP. */
export const otlpReceiver = defineTarget(
  "otlp-receiver",
  "whatever a service sends is answered, its spans are bounded, and protobuf reads like JSON",
  input,
  () => ({
    async check({ path, isProtobuf, isZipped, content, foreign, changes }) {
      const bytes = isProtobuf
        ? encodeTraces(content)
        : new TextEncoder().encode(JSON.stringify(foreign ?? content));
      const changed = changes.length === 0 ? bytes : edited(bytes, changes);
      const type = isProtobuf ? PROTOBUF_TYPE : "application/json";
      const recorder = createRecorder();
      const response = await recorder.post(
        path,
        isZipped ? await gzip(changed) : changed,
        {
          "content-type": type,
          ...isZipped && { "content-encoding": "gzip" },
        },
      );
      assert([200, 400].includes(response.status), `${response.status}`);
      assertEquals(response.headers.get("content-type"), type);
      const answer = await response.bytes();
      recorder.spans.forEach(checkSpan);
      if (isProtobuf && changes.length === 0 && path === "traces") {
        const other = createRecorder();
        const reply = await other.post(path, content);
        assertEquals(await reply.text(), "{}");
        assertEquals([response.status, answer.length], [200, 0]);
        assertEquals(recorder.spans, other.spans, "they are the same");
      }
      return `${response.status} with ${recorder.spans.length}`;
    },
  }),
);

function edited(
  bytes: Uint8Array,
  changes: Parameters<typeof applyEdits>[1],
): Uint8Array<ArrayBuffer> {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const result = applyEdits(text, changes);
  return Uint8Array.from(result, (char) => char.charCodeAt(0) & 255);
}

function checkSpan(span: SpanData): void {
  assert(/^[\da-f]{32}$/.test(span.traceId), span.traceId);
  assert(/^[\da-f]{16}$/.test(span.id), span.id);
  assert(span.parentId === null || /^[\da-f]{16}$/.test(span.parentId));
  assert(span.name.length < 300 && span.events.length <= 128);
  assert(span.startTime >= 0 && span.endTime >= span.startTime);
  assertEquals(span.duration, span.endTime - span.startTime);
  const attributes = Object.entries(span.attributes);
  assert(attributes.length <= 64);
  for (const [key, value] of attributes) {
    assert(key.length < 200 && String(value).length < 4_200, key);
  }
}
