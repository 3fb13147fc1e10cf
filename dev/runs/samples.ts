import { attributeText, isQuery } from "../../trace/export/attributes.ts";
import { routeKeyOf } from "../../trace/export/route_key.ts";
import type { SpanData, TraceData } from "../../trace/types.ts";

/** The work of one request. */
export interface Sample {
  /**
   * Requests with the same text are expected to do the same: URL, and whether
   * the user is signed in.
   */
  readonly like: string;
  /** The number of queries. */
  readonly queries: number;
  /** The number of cached functions that were computed. */
  readonly misses: number;
  /** The duration, in milliseconds. */
  readonly duration: number;
  /** Whether it ran during the first request of its run. */
  readonly isFirst: boolean;
  /** Whether no other request ran at the same time. */
  isAlone: boolean;
  /** Whether it is the first one of its route. */
  readonly isFirstOfRoute: boolean;
  /** The end, in epoch milliseconds. */
  readonly endTime: number;
  /** The trace id. */
  readonly traceId: string;
}

/** The requests of one route with one status. */
export interface RouteSamples {
  /** Method and route, such as `GET /books`. */
  readonly route: string;
  /** The HTTP status. */
  readonly status: number;
  /** In order of their end. */
  readonly samples: Sample[];
}

/** Maximum routes of a run. */
const MAX_ROUTES = 300;
/** Maximum requests of each route, the first ones. */
const MAX_SAMPLES = 100;
/** Maximum requests that a later one is expected to overlap. */
const MAX_RECENT = 20;

/** The requests of a run, by route and status. */
export class RunSamples {
  /** The routes, by status and route. */
  readonly routes = new Map<string, RouteSamples>();
  /** The end of the first request. `undefined` before it. */
  #firstEnd: number | undefined;
  /** The latest end of a request. */
  #lastEnd = -Infinity;
  /** The last requests, the latest end last. */
  #recent: Sample[] = [];

  /** @param isCut Whether the first requests are missing. */
  constructor(isCut = false) {
    if (isCut) this.#firstEnd = -Infinity;
  }

  /** Returns the requests of a route with a status. */
  of(route: string, status: number): RouteSamples | undefined {
    return this.routes.get(`${status} ${route}`);
  }

  /**
   * Adds a request that has ended.
   *
   * @param trace A trace with only its own spans.
   * @returns The requests of its route. `undefined` for a job or a failure.
   */
  add(trace: TraceData): RouteSamples | undefined {
    const { metadata, spans, startTime, endTime } = trace;
    const { pathname = "", statusCode: status = 500 } = metadata;
    const root = spans.get(trace.rootSpanId);
    const route = root && routeKeyOf(root);
    if (metadata.origin !== "server") return undefined;
    if (root === undefined || route === undefined) return undefined;
    const isAlone = this.#noteTimes(startTime, endTime);
    if (status >= 400) return undefined;
    this.#firstEnd ??= endTime;
    const isFirst = startTime < this.#firstEnd;
    const of = this.#ofRoute(route, status);
    if (of === undefined || of.samples.length >= MAX_SAMPLES) return undefined;
    const all = [...spans.values()];
    const query = attributeText(root, "url.query") ?? "";
    const sample = {
      like: `${pathname}?${query} ${signInOf(all)}`,
      queries: all.filter(isQuery).length,
      misses: all.filter(isMiss).length,
      duration: trace.duration,
      isFirst,
      isAlone,
      isFirstOfRoute: of.samples.length === 0,
      endTime,
      traceId: trace.id,
    };
    of.samples.push(sample);
    this.#recent = [...this.#recent.slice(-MAX_RECENT), sample];
    return of;
  }

  /** Returns whether no request ended after the start of this one. */
  #noteTimes(startTime: number, endTime: number): boolean {
    for (const sample of this.#recent) {
      if (sample.endTime > startTime) sample.isAlone = false;
    }
    const isAlone = startTime >= this.#lastEnd;
    this.#lastEnd = Math.max(this.#lastEnd, endTime);
    return isAlone;
  }

  #ofRoute(route: string, status: number): RouteSamples | undefined {
    const known = this.of(route, status);
    if (known !== undefined || this.routes.size >= MAX_ROUTES) return known;
    const added = { route, status, samples: [] };
    this.routes.set(`${status} ${route}`, added);
    return added;
  }
}

function isMiss(span: SpanData): boolean {
  return attributeText(span, "app.cache.result") === "miss";
}

/** Returns the results of all checks for a user. */
function signInOf(spans: readonly SpanData[]): string {
  const results = spans.map((span) => attributeText(span, "app.auth.result"))
    .filter((result) => result !== undefined);
  return [...new Set(results)].join();
}
