/**
 * The history of requests and jobs, which rules compare others with. All of it is
 * bounded.
 *
 * @module
 */

import { GenerationMap } from "../../core/collections/generation_map.ts";
import { attributeText, statementOf } from "../../trace/export/attributes.ts";
import { percentileOf } from "../../trace/export/percentile.ts";
import { statementShape } from "../../trace/export/statement_shape.ts";
import type { SpanData } from "../../trace/types.ts";
import { CacheHistory } from "./cache_history.ts";
import { RouteTimes } from "./route_times.ts";
import { isCutOff, type Unit } from "./units.ts";

/** Maximum requests to remember, and maximum statements and routes. */
const MAX_KNOWN = { maxSize: 10_000 };
const MAX = { maxSize: 2_000 };
/** Durations of a statement to remember. */
const MAX_TIMES = 20;
/** Other requests at the same time that make a request slow by themselves. */
const CROWD = 6;
/** The number of requests that are compared with another one. */
const RECENT = 100;
/** A longer request is a stream, which waits most of the time. */
const STREAM = 10_000;
/** A connection that takes longer is slow by itself, in milliseconds. */
const MAX_CONNECT = 1_000;

/** The history of requests and jobs. */
export type History = ReturnType<typeof createHistory>;

/** Creates an empty {@linkcode History}. */
export function createHistory() {
  /** The root spans of known units. */
  const known = new GenerationMap<string, true>(MAX_KNOWN);
  const recent: SpanData[] = [];
  const statements = new GenerationMap<string, number[]>(MAX);
  const routes = new GenerationMap<string, RouteTimes>(MAX);
  /** The first query of each database, which may include the connection. */
  const firstQueries = new Map<string, string>();
  const caches = new CacheHistory();

  /** Adds a unit. Returns whether it is unknown. */
  function add(unit: Unit): boolean {
    const { root, spans } = unit;
    if (known.get(root.id)) return false;
    known.set(root.id, true);
    if (root.duration < STREAM) recent.push(root);
    if (recent.length > RECENT) recent.shift();
    for (const span of spans) addQuery(span);
    caches.add(unit);
    return true;
  }

  /** Compares a unit with its route. Called once all known units are added. */
  function addTimes(unit: Unit): void {
    const { root, route, status } = unit;
    const isOwn = status !== undefined && status !== 101 && !isCutOff(root);
    if (!isOwn || isCrowded(unit)) return;
    const key = `${status} ${route}`;
    const times = routes.get(key) ?? new RouteTimes();
    times.add(root);
    routes.set(key, times);
  }

  function addQuery(span: SpanData): void {
    const statement = statementOf(span);
    if (statement === undefined) return;
    const shape = statementShape(statement);
    const times = statements.get(shape) ?? [];
    times.push(span.duration);
    if (times.length > MAX_TIMES) times.shift();
    statements.set(shape, times);
    const system = systemOf(span);
    if (!firstQueries.has(system)) firstQueries.set(system, span.id);
  }

  /** Whether many other requests ran at the same time. */
  function isCrowded({ root }: Unit): boolean {
    const others = recent.filter(({ id, startTime, endTime }) =>
      id !== root.id && startTime < root.endTime && endTime > root.startTime
    );
    return others.length > CROWD;
  }

  return {
    add,
    addTimes,
    isCrowded,

    /** Returns the median duration of a statement, in milliseconds. */
    usualTime: (shape: string) => percentileOf(statements.get(shape) ?? [], 50),

    /** Whether a statement ran only once. */
    ranOnce: (shape: string) => statements.get(shape)?.length === 1,

    /** Whether the duration of a query may be the time to connect. */
    isFirstQuery(span: SpanData): boolean {
      const system = systemOf(span);
      return system !== "sqlite" && span.duration < MAX_CONNECT &&
        firstQueries.get(system) === span.id;
    },

    /** Returns by how much a request and the ones before it are slower. */
    slowdownOf: ({ root, route, status }: Unit) =>
      routes.get(`${status} ${route}`)?.slowdownOf(root),

    /** Returns the cached functions that a unit asked, and that never hit. */
    idleCachesOf: (unit: Unit) => caches.idleIn(unit),
  };
}

function systemOf(span: SpanData): string {
  return attributeText(span, "db.system.name", "db.system") ?? "";
}
