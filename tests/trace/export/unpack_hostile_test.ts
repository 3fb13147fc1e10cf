import {
  assert,
  assertEquals,
  assertLess,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { decodeBase64, encodeBase64 } from "../../../core/bytes/base64.ts";
import { gzip } from "../../../trace/export/gzip.ts";
import { packTraces, unpackTraces } from "../../../trace/export/pack.ts";
import { LAYERS, STATUSES } from "../../../trace/export/semantics.ts";
import type { SerializedTrace } from "../../../trace/types.ts";
import { anyTrace } from "./any_trace.ts";
import { gunzip } from "./gunzip.ts";
import { makeTrace } from "./make_trace.ts";
import { SeededRandom } from "./random.ts";
import { realisticTraces } from "./realistic.ts";

/**
 * Unpacks everything. Returns whether it was rejected with the expected error.
 */
async function outcome(text: string): Promise<"read" | "refused"> {
  try {
    const packed = await unpackTraces(text);
    packed.index.forEach((_, i) => packed.trace(i));
    return "read";
  } catch (error) {
    assert(error instanceof TypeError, `${error}`);
    assertStringIncludes(error.message, "Cannot unpack traces: the text must");
    return "refused";
  }
}

async function pack(payload: Uint8Array<ArrayBuffer>): Promise<string> {
  return encodeBase64(await gzip(payload));
}

/** Returns the lines of the payload of some traces. */
async function linesOf(
  ...traces: Parameters<typeof packTraces>[0]
): Promise<string[]> {
  const payload = await gunzip(decodeBase64(await packTraces(traces)), 1e6);
  return new TextDecoder().decode(payload).split("\n");
}

async function packLines(...lines: string[]): Promise<string> {
  return await pack(new TextEncoder().encode(lines.join("\n")));
}

Deno.test("unpackTraces() explains what is wrong with a text", async () => {
  const good = await packTraces([makeTrace([{}])]);
  const cases: [string, string][] = [
    ["", "bytes that aren't whole gzip"],
    ["{}", "characters that aren't base64"],
    ["AAAA", "bytes that aren't whole gzip"],
    [good.slice(0, 40), "bytes that aren't whole gzip"],
    [await pack(new Uint8Array()), "another format or version"],
    [await pack(new TextEncoder().encode("QKT2")), "another format or version"],
    [await packLines("QKT1"), "parts missing or of another form"],
    [await packLines("QKT1", "[]", "[]", "{"), "parts missing"],
  ];
  for (const [text, message] of cases) {
    await assertRejects(() => unpackTraces(text), TypeError, message);
  }
  await assertRejects(
    () => unpackTraces(null as unknown as string),
    TypeError,
    "the text must be a string, received null",
  );
});

Deno.test("unpackTraces() detects every flipped bit that changes a trace", async () => {
  const trace = makeTrace([{}, { under: 0 }]);
  const bytes = decodeBase64(await packTraces([trace]));
  let harmless = 0;
  for (let i = 0; i < bytes.length * 8; i++) {
    const flipped = bytes.slice();
    flipped[i >> 3] = (flipped[i >> 3] as number) ^ (1 << (i & 7));
    const text = encodeBase64(flipped);
    if (await outcome(text) === "refused") continue;
    assertEquals((await unpackTraces(text)).trace(0), trace, `bit ${i}`);
    harmless++;
  }
  // The header's time and system, and the padding of deflate's last byte.
  assertLess(harmless, 80);
});

Deno.test("unpackTraces() detects every truncation", async () => {
  const text = await packTraces([makeTrace([{}, { under: 0 }])]);
  for (let length = 0; length < text.length; length++) {
    // Base64 padding is optional.
    if (!text.slice(length).replaceAll("=", "")) continue;
    assert(await outcome(text.slice(0, length)) === "refused", `${length}`);
  }
});

Deno.test("unpackTraces() reads or rejects any payload, and never hangs", async () => {
  const random = new SeededRandom(7);
  const samples = [
    realisticTraces(3, 6),
    Array.from({ length: 5 }, () => anyTrace(random)),
  ];
  const outcomes = { read: 0, refused: 0 };
  for (const traces of samples) {
    const text = await packTraces(traces);
    const payload = await gunzip(decodeBase64(text), 1e6);
    for (let round = 0; round < 700; round++) {
      const mutant = payload.slice();
      for (let change = random.below(4); change >= 0; change--) {
        mutant[random.below(mutant.length)] = random.pick([
          0,
          1,
          127,
          128,
          255,
          random.below(256),
        ]);
      }
      outcomes[await outcome(await pack(mutant))]++;
    }
  }
  assert(outcomes.read > 50 && outcomes.refused > 50, JSON.stringify(outcomes));
});

Deno.test("unpackTraces() rejects every part that is missing or of another type", async () => {
  const event = { name: "a", time: 0, attributes: { b: 1 } };
  const good = await linesOf(
    makeTrace([{ attributes: { a: "text" }, events: [event] }, { under: 0 }]),
  );
  const replacements = [null, {}, [], [[]], "?", 1e9, -1, 0.5, "length"];
  let refused = 0;
  for (let line = 1; line < good.length; line++) {
    await assertRefused(good.slice(0, line));
    const parsed = JSON.parse(good[line]!);
    for (const variant of variants(parsed, replacements)) {
      const lines = good.with(line, JSON.stringify(variant));
      const text = await packLines(...lines);
      if (await outcome(text) === "refused") refused++;
      else assertTyped((await unpackTraces(text)).trace(0));
    }
  }
  assert(refused > 200, `${refused}`);
});

async function assertRefused(lines: string[]): Promise<void> {
  assert(await outcome(await packLines(...lines)) === "refused", `${lines}`);
}

/** Yields the value with each of its parts replaced by each replacement. */
function* variants(
  value: unknown,
  replacements: readonly unknown[],
): Generator<unknown> {
  yield* replacements;
  if (!Array.isArray(value)) return;
  for (const [i, item] of value.entries()) {
    for (const variant of variants(item, replacements)) {
      yield value.with(i, variant);
    }
  }
}

/** Asserts that all fields have their declared types. */
function assertTyped(trace: SerializedTrace): void {
  const { id, rootSpanId, startTime, endTime, duration } = trace;
  for (const text of [id, rootSpanId]) assertEquals(typeof text, "string");
  for (const time of [startTime, endTime, duration]) {
    assert(Number.isFinite(time));
  }
  for (const span of trace.spans) {
    const { parentId } = span;
    for (const text of [span.id, span.traceId, span.name, ...span.children]) {
      assertEquals(typeof text, "string");
    }
    assert(parentId === null || typeof parentId === "string");
    assert(LAYERS.includes(span.layer) && STATUSES.includes(span.status));
    for (const time of [span.startTime, span.endTime, span.duration]) {
      assert(Number.isFinite(time));
    }
    const values = [span, ...span.events]
      .flatMap(({ attributes = {} }) => Object.values(attributes));
    for (const value of values) {
      assert(["string", "number", "boolean"].includes(typeof value));
    }
    for (const event of span.events) {
      assert(typeof event.name === "string" && Number.isFinite(event.time));
    }
  }
}

Deno.test("unpackTraces() limits the number of keys relative to the size of the text", async () => {
  const lines = await linesOf(makeTrace([{}]));
  const keys = Array.from({ length: 1000 }, (_, i) => `${i}`);
  await assertRefused(lines.with(1, JSON.stringify([keys])));
});

Deno.test("unpackTraces() stops inflating when the output gets too large", async () => {
  await assertRejects(
    async () => await gunzip(await gzip(new Uint8Array(1_000_000)), 100_000),
    RangeError,
    "more than 100000 bytes",
  );
});

Deno.test("unpackTraces() rejects times that aren't finite", async () => {
  const lines = await linesOf(makeTrace([{ endTime: 5 }]));
  const last = lines.length - 2;
  const [start, end, duration] = JSON.parse(lines[last]!);
  for (const wrong of ["Infinity", "NaN", "1e999", "x"]) {
    for (
      const times of [
        [wrong, end, duration],
        [start, wrong, duration],
        [start, end, wrong],
      ]
    ) {
      await assertRefused(lines.with(last, JSON.stringify(times)));
    }
  }
});
