import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { openTraces, packTraces } from "../../../trace/export/pack.ts";
import { realisticTraces } from "./realistic.ts";

// Random ids don't compress, so the index is far from the end.
const traces = realisticTraces(2_000, 20);
const text = await packTraces(traces);

Deno.test("openTraces() lists the traces before the rest of the text arrives", async () => {
  const rest = Promise.withResolvers<void>();
  const half = text.length / 2;
  const packed = await openTraces((async function* () {
    yield text.slice(0, half);
    await rest.promise;
    yield text.slice(half);
  })());
  assertEquals(
    packed.index.map(({ id, spanCount }) => ({ id, spanCount })),
    traces.map(({ id, spans }) => ({ id, spanCount: spans.length })),
  );
  assertThrows(() => packed.trace(0));
  rest.resolve();
  await packed.complete();
  assertEquals(packed.trace(0), traces[0]);
  assertEquals(packed.trace(1_999), traces[1_999]);
});

Deno.test("openTraces() accepts text that is split anywhere, and white space in it", async () => {
  const few = traces.slice(0, 3);
  const whole = await packTraces(few);
  for (const length of [1, 2, 3, 5, 64, 77]) {
    const pieces: string[] = [];
    for (let at = 0; at < whole.length; at += length) {
      pieces.push(whole.slice(at, at + length), "", "\n ");
    }
    const packed = await openTraces(pieces);
    await packed.complete();
    assertEquals(few.map((_, i) => packed.trace(i)), few);
  }
});

Deno.test("openTraces() detects damage after the index when it is completed", async () => {
  const end = text.length - 4_000;
  for (
    const [damaged, message] of [
      [text.slice(0, end), "bytes that aren't whole gzip"],
      [`${text.slice(0, end)}<${text.slice(end + 1)}`, "aren't base64"],
      [`${text.slice(0, end)}AAAA${text.slice(end + 4)}`, "whole gzip"],
    ] as const
  ) {
    const packed = await openTraces([damaged]);
    assertEquals(packed.index.length, traces.length);
    const error = await assertRejects(() => packed.complete(), TypeError);
    assert(error.message.includes(message), error.message);
  }
});
