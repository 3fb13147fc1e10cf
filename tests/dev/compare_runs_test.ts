/**
 * Decides when a route counts as slower than in the run before.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  compareRoute,
  differenceText,
  type RouteComparison,
} from "../../dev/runs/compare.ts";
import type { Sample } from "../../dev/runs/samples.ts";

/** A request: the number of queries, and what differs from a usual one. */
type Sketch = readonly [queries: number, also?: Partial<Sample>];

function compare(
  before: readonly Sketch[],
  after: readonly Sketch[],
): RouteComparison {
  const [was, is] = [before, after].map((sketches) => ({
    route: "GET /books",
    status: 200,
    samples: sketches.map(([queries, also]): Sample => ({
      like: "/books?",
      queries,
      misses: 0,
      duration: 8,
      isFirst: false,
      isAlone: true,
      isFirstOfRoute: false,
      endTime: 0,
      traceId: "t",
      ...also,
    })),
  }));
  return compareRoute(was!, is!);
}

function verdictOf(...runs: Parameters<typeof compare>): string {
  return compare(...runs).verdict;
}

/** Returns requests with these durations. */
function lasting(
  durations: readonly number[],
  also: Partial<Sample> = {},
): Sketch[] {
  return durations.map((duration) => [1, { duration, ...also }]);
}

Deno.test("One request with more than twice the queries, and 5 more, is slower", () => {
  assertEquals(verdictOf([[12]], [[72]]), "slower");
  assertEquals(verdictOf([[12]], [[24]]), "same");
  assertEquals(verdictOf([[12]], [[25]]), "slower");
  assertEquals(verdictOf([[0]], [[4]]), "same");
  assertEquals(verdictOf([[0]], [[5]]), "slower");
  // Any earlier request that did as much explains it.
  assertEquals(verdictOf([[12], [40], [12]], [[72]]), "same");
});

Deno.test("More queries aren't slower after more cache misses, for another URL, or as the first request", () => {
  const more = (also: Partial<Sample>) => verdictOf([[2]], [[72, also]]);
  assertEquals(more({ misses: 1 }), "same");
  assertEquals(more({ like: "/books?q=x" }), "same");
  assertEquals(more({ like: "/books? cookie" }), "same");
  assertEquals(more({ isFirst: true }), "same");
  const first = { isFirst: true };
  assertEquals(verdictOf([[2, first]], [[72, first]]), "slower");
  // A later request, which another one follows.
  assertEquals(verdictOf([[2]], [[72, first], [72], [2]]), "slower");
});

Deno.test("Requests that are never equal are compared from 3 in each run", () => {
  const like = (queries: number, id: number): Sketch => [
    queries,
    { like: `/books/${id}` },
  ];
  const before = [like(2, 1), like(3, 2), like(2, 3)];
  const after = [like(9, 4), like(12, 5), like(10, 6)];
  assertEquals(verdictOf(before, after.slice(1)), "same");
  assertEquals(verdictOf(before, after), "slower");
  assertEquals(verdictOf([...before, like(5, 7)], after), "same");
});

Deno.test("Twice the median duration of 5 requests is slower, if 10 ms longer and apart", () => {
  const usual = lasting([7, 8, 8, 9, 10]);
  assertEquals(verdictOf(usual, lasting([40, 41, 41, 42, 43])), "slower");
  assertEquals(verdictOf(usual, lasting([40, 41, 41, 42])), "same");
  assertEquals(
    verdictOf(usual.slice(1), lasting([40, 41, 41, 42, 43])),
    "same",
  );
  assertEquals(verdictOf(usual, lasting([15, 16, 17, 17, 18])), "same");
  assertEquals(
    verdictOf(lasting([30, 31, 31, 32, 33]), lasting([55, 60, 61, 62, 63])),
    "same",
  );
  // The middle halves overlap.
  assertEquals(verdictOf(usual, lasting([7, 8, 30, 31, 32])), "same");
  // A burst makes requests wait for each other.
  const burst = lasting([90, 91, 92, 93, 94], { isAlone: false });
  assertEquals(verdictOf(usual, burst), "same");
  // Two URLs, visited in another order.
  const fast: Sketch = [1, { like: "/books/1", duration: 8 }];
  const slow: Sketch = [1, { like: "/books/2", duration: 80 }];
  const mixed = [fast, fast, fast, fast, fast, slow];
  assertEquals(verdictOf(mixed, [slow, slow, slow, slow, slow, fast]), "same");
  const first = lasting([40, 41, 41, 42, 43]);
  first[0] = [1, { duration: 40, isFirstOfRoute: true }];
  assertEquals(verdictOf(usual, first), "same");
  const cold = lasting([40, 41, 41, 42, 43], { misses: 1 });
  assertEquals(verdictOf(usual, cold), "same");
});

Deno.test("A route with fewer queries in 2 requests, or half the duration, is faster", () => {
  assertEquals(verdictOf([[72]], [[12]]), "same");
  assertEquals(verdictOf([[72]], [[12], [12]]), "faster");
  const [long, short] = [[40, 41, 41, 42, 43], [7, 8, 8, 9, 10]];
  assertEquals(verdictOf(lasting(long), lasting(short)), "faster");
  // The same values, only found in the cache.
  assertEquals(verdictOf([[12, { misses: 1 }]], [[0], [0]]), "same");
});

Deno.test("More but faster queries are neither slower nor faster", () => {
  const slow = [40, 41, 41, 42, 43].map((
    duration,
  ): Sketch => [1, { duration }]);
  const many = [7, 8, 8, 9, 10].map((duration): Sketch => [12, { duration }]);
  assertEquals(verdictOf(slow, many), "same");
  assertEquals(verdictOf(many, slow), "same");
});

Deno.test("differenceText() says medians, and only durations that go the same way", () => {
  const text = (...runs: Parameters<typeof compare>) =>
    differenceText(compare(...runs));
  const took = (queries: number, duration: number): Sketch => [
    queries,
    { duration },
  ];
  assertEquals(
    text([took(12, 8.04)], [took(72, 41.4)]),
    "12 → 72 queries, 8 → 41 ms",
  );
  assertEquals(text([took(12, 40)], [took(72, 9)]), "12 → 72 queries");
  assertEquals(text([took(12, 8)], [took(72, 8.5)]), "12 → 72 queries");
  assertEquals(
    text(lasting([1, 1, 1.25, 2, 2]), lasting([30, 31, 31.4, 32, 32])),
    "1.3 → 31 ms",
  );
  // The first requests of both runs, which found the caches empty.
  assertEquals(text([[12], [0], [0], [0]], [[72], [72]]), "12 → 72 queries");
  assertEquals(text([[12], [0], [0]], [[72], [0]]), "12 → 72 queries");
});
