import type {
  AttributeValue,
  Layer,
  SerializedTrace,
  SpanData,
} from "../../../trace/types.ts";
import { SeededRandom } from "./random.ts";

const COUNTRIES = "fr de it es pt nl be lu at ch pl cz sk hu si hr ro bg gr"
  .split(" ");

const ROUTES = [
  ["/", "home"],
  ["/countries", "countries"],
  ["/countries/:code", "country"],
  ["/regions/:code/countries", "region"],
  ["/favourites", "favourites"],
  ["/admin/users", "users"],
] as const;

const QUERIES = [
  "SELECT * FROM countries WHERE code = ?",
  "SELECT code, name, capital FROM countries ORDER BY name LIMIT ? OFFSET ?",
  "SELECT c.name, count(*) FROM favourites f JOIN countries c ON c.code = f.code GROUP BY c.name",
  "SELECT id, email, roles FROM users WHERE id = ?",
  "INSERT INTO favourites (user_id, code) VALUES (?, ?)",
];

/** Start of the process, with the precision of `performance.timeOrigin`. */
const ORIGIN = 1_760_000_000_000.123;

/**
 * Creates traces as a server under load does: many similar ones, none equal. As
 * in the tracer, times are readings of a nanosecond clock since the start of
 * the process. Durations are differences of readings, and epoch times are sums
 * with the origin, so rounding makes a duration differ from end minus start.
 */
export function realisticTraces(
  traceCount: number,
  spanCount: number,
  seed = 1,
): SerializedTrace[] {
  const random = new SeededRandom(seed);
  let time = 60_000;
  return Array.from({ length: traceCount }, () => {
    time = nanoseconds(time + random.fraction() * 80);
    return realisticTrace(random, time, spanCount);
  });
}

function realisticTrace(
  random: SeededRandom,
  startedAt: number,
  spanCount: number,
): SerializedTrace {
  const traceId = random.hex(16);
  const [routePattern, loader] = random.pick(ROUTES);
  const pathname = routePattern.replace(":code", random.pick(COUNTRIES)) +
    (random.chance(0.3) ? `/${random.below(100_000)}` : "");
  const statusCode = random.chance(0.03) ? 500 : 200;
  const status = statusCode === 500 ? "error" : "ok";

  const spans: (SpanData & { children: string[] })[] = [];
  const add = (
    parent: number | null,
    name: string,
    layer: Layer,
    start: number,
    length: number,
    attributes: Record<string, AttributeValue>,
  ): number => {
    const began = nanoseconds(startedAt + start);
    const ended = nanoseconds(began + length);
    const id = random.hex(8);
    if (parent !== null) spans[parent]?.children.push(id);
    return spans.push({
      id,
      traceId,
      parentId: parent === null ? null : spans[parent]?.id ?? null,
      name,
      layer,
      status: layer === "request" ? status : "ok",
      startTime: ORIGIN + began,
      endTime: ORIGIN + ended,
      duration: ended - began,
      attributes,
      events: [],
      children: [],
    }) - 1;
  };

  const length = 5 + random.fraction() * 60;
  const root = add(null, `GET ${pathname}`, "request", 0, length, {
    "http.request.method": "GET",
    "url.path": pathname,
    "url.scheme": "http",
    "http.route": routePattern,
    "http.response.status_code": statusCode,
  });
  add(root, "route.match", "routing", 0.05, 0.05 + random.fraction() * 0.1, {
    "http.route": routePattern,
  });
  add(root, "auth:session", "auth", 0.2, random.fraction(), {
    "auth.authenticated": random.chance(0.7),
  });
  const load = add(root, `loader:${loader}`, "data", 1.3, length - 2, {
    "loader.name": loader,
  });
  let at = 1.4;
  const step = (length - 3) / spanCount;
  while (spans.length < spanCount) {
    const took = random.fraction() * step;
    if (random.chance(0.3)) {
      add(load, "cache.get", "data", at, took, {
        "app.cache.key": `${loader}:${random.pick(COUNTRIES)}`,
        "app.cache.result": random.chance(0.5) ? "hit" : "miss",
      });
    } else {
      add(load, "db.query", "database", at, took, {
        "db.system.name": "sqlite",
        "db.query.text": random.pick(QUERIES),
        "db.response.returned_rows": random.below(50),
      });
    }
    at += step;
  }
  const { startTime, endTime, duration } = spans[0] as SpanData;
  return {
    id: traceId,
    rootSpanId: spans[0]?.id ?? "",
    startTime,
    endTime,
    duration,
    spans,
    metadata: {
      origin: "server",
      method: "GET",
      pathname,
      statusCode,
      routePattern,
    },
  };
}

function nanoseconds(time: number): number {
  return Math.round(time * 1e6) / 1e6;
}
