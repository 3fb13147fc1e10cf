import {
  assert,
  assertEquals,
  assertLess,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { decodeBase64, encodeBase64 } from "../../../trace/export/base64.ts";
import { ByteWriter } from "../../../trace/export/byte_writer.ts";
import { gunzip, gzip } from "../../../trace/export/gzip.ts";
import { packTraces, unpackTraces } from "../../../trace/export/pack.ts";
import { anyTrace } from "./any_trace.ts";
import { makeTrace } from "./make_trace.ts";
import { SeededRandom } from "./random.ts";
import { realisticTraces } from "./realistic.ts";

/** Unpacks everything; says whether it was refused in the one right way. */
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

/** A payload of sections as `write` fills them. */
function payloadOf(
  ...sections: ((out: ByteWriter) => void)[]
): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter();
  out.bytes(new TextEncoder().encode("QKT1"));
  for (let i = 0; i < 7; i++) {
    const section = new ByteWriter();
    sections[i]?.(section);
    if (sections[i] === undefined) section.varint(0);
    out.section(section);
  }
  return out.finish();
}

Deno.test("unpackTraces() says what is wrong with a text", async () => {
  const good = await packTraces([makeTrace([{}])]);
  const cases: [string, string][] = [
    ["", "bytes that aren't whole gzip"],
    ["{}", "characters that aren't base64"],
    ["AAAA", "bytes that aren't whole gzip"],
    [good.slice(0, 40), "bytes that aren't whole gzip"],
    [await pack(new Uint8Array()), "another format or version"],
    [await pack(new TextEncoder().encode("QKT2")), "another format or version"],
    [await pack(new TextEncoder().encode("QKT1")), "an early end"],
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

Deno.test("unpackTraces() notices every flipped bit that changes a trace", async () => {
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
  // The header's time and system, and what fills up deflate's last byte.
  assertLess(harmless, 80);
});

Deno.test("unpackTraces() notices every truncation", async () => {
  const text = await packTraces([makeTrace([{}, { under: 0 }])]);
  for (let length = 0; length < text.length; length++) {
    // Base64 may leave out its padding.
    if (!text.slice(length).replaceAll("=", "")) continue;
    assert(await outcome(text.slice(0, length)) === "refused", `${length}`);
  }
});

Deno.test("unpackTraces() reads or refuses any payload, and never hangs", async () => {
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

Deno.test("unpackTraces() doesn't believe counts", async () => {
  const huge = (out: ByteWriter) => out.varint(2 ** 53 - 1);
  const none = (out: ByteWriter) => out.varint(0);
  const spans = (out: ByteWriter) => {
    out.varint(1); // one trace
    out.varint(1); // with text ids
    out.varint(0); // name
    out.varint(2 ** 50); // spans
    for (let i = 0; i < 20; i++) out.varint(0);
  };
  const strings = (out: ByteWriter) => {
    out.varint(1);
    out.varint(2);
    out.bytes(new TextEncoder().encode("a"));
  };
  const shape = (out: ByteWriter) => {
    out.varint(1);
    out.varint(2 ** 40);
  };
  const overlong = (out: ByteWriter) => out.bytes(new Uint8Array(99).fill(255));
  const cases = [
    payloadOf(huge),
    payloadOf(overlong),
    payloadOf(none, huge),
    payloadOf(none, shape),
    payloadOf(none, none, huge),
    payloadOf(strings, none, spans),
  ];
  for (const [i, payload] of cases.entries()) {
    assert(await outcome(await pack(payload)) === "refused", `case ${i}`);
  }
});

Deno.test("unpackTraces() stops inflating what gets too large", async () => {
  await assertRejects(
    async () => await gunzip(await gzip(new Uint8Array(1_000_000)), 100_000),
    RangeError,
    "more than 100000 bytes",
  );
});

Deno.test("unpackTraces() refuses escaped texts that aren't one", async () => {
  for (const json of ["17", "{}", '"', ""]) {
    const strings = (out: ByteWriter) => {
      out.varint(1);
      out.varint(json.length * 2 + 1);
      out.bytes(new TextEncoder().encode(json));
    };
    const index = (out: ByteWriter) => {
      out.varint(1);
      for (let i = 0; i < 20; i++) out.varint(0);
    };
    const payload = payloadOf(strings, undefined as never, index);
    assert(await outcome(await pack(payload)) === "refused", json);
  }
});

Deno.test("unpackTraces() refuses times that aren't finite", async () => {
  const trace = makeTrace([{}]);
  // Both are too far from the start for a difference: they are doubles.
  const text = await packTraces([{
    ...trace,
    endTime: 1e300,
    duration: 2e300,
  }]);
  const payload = await gunzip(decodeBase64(text), 1e6);
  const view = new DataView(payload.buffer);
  let found = 0;
  for (let i = 0; i + 8 <= payload.length; i++) {
    const value = view.getFloat64(i, true);
    if (value !== 1e300 && value !== 2e300) continue;
    found++;
    view.setFloat64(i, Infinity, true);
    assert(await outcome(await pack(payload)) === "refused");
    view.setFloat64(i, value, true);
  }
  assertEquals(found, 2);
});
