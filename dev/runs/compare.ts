/**
 * Compares the requests of a route in two runs, without false alarms:
 *
 * - Queries are counted, so one request is enough. It must have run more than
 *   twice as many as any earlier request like it, and at least 5 more. It must
 *   not have missed the cache more often. The first request of a run is only
 *   compared with a first one.
 * - Durations vary, so 5 requests in each run are compared with a request like
 *   them, in order: a process becomes faster at first. The median must have
 *   doubled, by at least 10 ms, and 9 of 10 pairs must agree. The first request
 *   of a route doesn't count, nor do requests that ran at the same time.
 *
 * @module
 */

import type { RouteSamples, Sample } from "./samples.ts";

/** The work of a route in a run. */
export interface RouteFigures {
  /** The number of its requests. */
  readonly requests: number;
  /** The median number of queries. */
  readonly queries: number;
  /** The median duration, in milliseconds. */
  readonly duration: number;
  /** The trace of a request. */
  readonly traceId: string;
}

/** A route in two runs. */
export interface RouteComparison {
  /** Method and route, such as `GET /books`. */
  readonly route: string;
  /** The HTTP status. */
  readonly status: number;
  /** Whether the later run does more or takes longer, or the opposite. */
  readonly verdict: "slower" | "faster" | "same";
  /** The earlier run. */
  readonly before: RouteFigures;
  /** The later run. */
  readonly after: RouteFigures;
}

const MIN_FACTOR = 2;
const MIN_QUERIES = 5;
const MIN_MILLISECONDS = 10;
/** The pairs of requests that durations need. */
const MIN_REQUESTS = 5;
/** The factor between the durations of a pair, and the share of such pairs. */
const MIN_APART = 1.5;
const MIN_SHARE = 0.9;
/** The requests of a run that queries need without equal requests. */
const MIN_UNLIKE = 3;

/** Compares a route in two runs. */
export function compareRoute(
  before: RouteSamples,
  after: RouteSamples,
): RouteComparison {
  const [was, is] = [before.samples, after.samples];
  const { route, status } = after;
  const compared = (
    verdict: RouteComparison["verdict"],
    [was, is]: readonly [readonly Sample[], readonly Sample[]],
  ) => ({ route, status, verdict, before: figures(was), after: figures(is) });

  const more = withMoreQueries(was, is);
  const fewer = withMoreQueries(is, was);
  const slower = longer(was, is);
  const faster = longer(is, was);
  // Fewer but longer queries aren't an improvement, and the other way round.
  if (more !== undefined && faster === undefined) {
    return compared("slower", more);
  }
  if (fewer !== undefined && slower === undefined && is.length > 1) {
    return compared("faster", [fewer[1], fewer[0]]);
  }
  if (more === undefined && fewer === undefined) {
    if (slower !== undefined) return compared("slower", slower);
    if (faster !== undefined) return compared("faster", [faster[1], faster[0]]);
  }
  return compared("same", [was, is]);
}

/** Returns the requests that show that `more` ran more queries than `less`. */
function withMoreQueries(
  less: readonly Sample[],
  more: readonly Sample[],
): [Sample[], Sample[]] | undefined {
  const byLike = Map.groupBy(less, ({ like }) => like);
  const alike = more.filter(({ like }) => byLike.has(like));
  for (const sample of alike.toReversed()) {
    const others = byLike.get(sample.like)!;
    const isFair = !sample.isFirst || others.some(({ isFirst }) => isFirst);
    if (!isFair || !areMore(others, [sample])) continue;
    const same = alike.filter(({ like }) => like === sample.like);
    const shown = same.filter((sample) => areMore(others, [sample]));
    // As many, from the start: these found the same caches empty.
    return [others.slice(0, shown.length), shown];
  }
  const isEnough = alike.length === 0 && less.length >= MIN_UNLIKE &&
    more.length >= MIN_UNLIKE;
  return isEnough && areMore(less, more) ? [[...less], [...more]] : undefined;
}

/** Whether all requests ran more queries than any of others, uncached. */
function areMore(less: readonly Sample[], more: readonly Sample[]): boolean {
  const most = Math.max(...less.map(({ queries }) => queries));
  const least = Math.min(...more.map(({ queries }) => queries));
  const misses = Math.max(...less.map(({ misses }) => misses));
  return least > most * MIN_FACTOR && least - most >= MIN_QUERIES &&
    more.every((sample) => sample.misses <= misses);
}

/** Returns the requests that show that `long` took longer, beyond chance. */
function longer(
  short: readonly Sample[],
  long: readonly Sample[],
): [Sample[], Sample[]] | undefined {
  const pairs = pairsOf(short.filter(isTimed), long.filter(isTimed));
  if (pairs.length < MIN_REQUESTS) return undefined;
  const apart = pairs.filter(([a, b]) => b.duration > a.duration * MIN_APART);
  const was = pairs.map(([a]) => a);
  const is = pairs.map(([, b]) => b);
  const [before, after] = [median(was, "duration"), median(is, "duration")];
  const isLonger = after >= before * MIN_FACTOR &&
    after - before >= MIN_MILLISECONDS &&
    apart.length >= pairs.length * MIN_SHARE &&
    median(is, "misses") <= median(was, "misses");
  return isLonger ? [was, is] : undefined;
}

/** Returns each request with one like it of another run, in their order. */
function pairsOf(
  a: readonly Sample[],
  b: readonly Sample[],
): [Sample, Sample][] {
  const likes = Map.groupBy(a, ({ like }) => like);
  return b.flatMap((sample): [Sample, Sample][] => {
    const other = likes.get(sample.like)?.shift();
    return other === undefined ? [] : [[other, sample]];
  });
}

function isTimed({ isAlone, isFirstOfRoute }: Sample): boolean {
  return isAlone && !isFirstOfRoute;
}

function figures(samples: readonly Sample[]): RouteFigures {
  return {
    requests: samples.length,
    queries: median(samples, "queries"),
    duration: median(samples, "duration"),
    traceId: samples.at(-1)!.traceId,
  };
}

/** Returns the upper median: a request that a cache answered isn't typical. */
function median(
  samples: readonly Sample[],
  field: "queries" | "misses" | "duration",
): number {
  const sorted = samples.map((sample) => sample[field]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

/** Returns the difference in words: `12 → 72 queries, 8 → 41 ms`. */
export function differenceText(
  { verdict, before, after }: RouteComparison,
): string {
  const texts: string[] = [];
  if (before.queries !== after.queries) {
    texts.push(`${before.queries} → ${after.queries} queries`);
  }
  const [less, more] = verdict === "slower" ? [before, after] : [after, before];
  const isRelated = more.duration - less.duration >= 1 &&
    more.duration >= less.duration * 1.2;
  if (isRelated) {
    texts.push(`${round(before.duration)} → ${round(after.duration)} ms`);
  }
  return texts.join(", ");
}

function round(duration: number): number {
  return duration < 10 ? Number(duration.toPrecision(2)) : Math.round(duration);
}
