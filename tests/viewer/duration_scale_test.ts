import { assert, assertEquals } from "@std/assert";
import { barLength, scaleEnd } from "../../viewer/model/duration_scale.ts";

Deno.test("scaleEnd() returns a round number that isn't shorter", () => {
  assertEquals([0.3, 1, 1.2, 4, 7, 650].map(scaleEnd), [
    0.5,
    1,
    2,
    5,
    10,
    1_000,
  ]);
  assertEquals([0, -1, NaN].map(scaleEnd), [1, 1, 1]);
});

Deno.test("barLength() grows with the duration, and ends at the scale's end", () => {
  const lengths = [0, 0.01, 1, 100, 400, 900].map((time) =>
    barLength(time, 400)
  );
  assertEquals(lengths, [0, 0.01, 0.05, 0.5, 1, 1]);
  assertEquals(barLength(NaN, 400), 0);
  assert(lengths.every((length, i) => i === 0 || length >= lengths[i - 1]!));
});
