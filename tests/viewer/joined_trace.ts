/**
 * A joined trace of a page load: its resources, ten fetches in parallel with
 * their procedures and queries, another service, a running subscription, and
 * web vitals. For tests and for looking at the viewer.
 *
 * @module
 */

import type { SerializedTrace, SpanData } from "../../trace/types.ts";
import { type Sketch, span, trace } from "./make_trace.ts";

/** Start of the page load, in epoch milliseconds. */
const START = Date.UTC(2026, 2, 14, 9, 30);

const ORIGIN = "http://localhost:8000";

type Also = Partial<SpanData>;

/** Options of `joinedTrace()`. */
export interface JoinedOptions {
  /** Whether a procedure failed. Default: `true`. */
  readonly failed?: boolean;
  /** Whether the page has an open subscription. Default: `true`. */
  readonly subscribed?: boolean;
  /** Remaining error of the browser's clock, in milliseconds. Default: 0.4. */
  readonly clockError?: number;
}

/** Creates the trace. Its total is 650 ms. */
export function joinedTrace(options: JoinedOptions = {}): SerializedTrace {
  const { failed = true, subscribed = true, clockError = 0.4 } = options;
  const page = span("page load /shop", 0, 650, [
    browser("request", 12, 84, [documentRequest()]),
    browser("response", 84, 92, []),
    browser("dom", 92, 410, []),
    resource("/shop.css", 98, 140),
    resource("/shop.js", 98, 236),
    browser("hydrate:Cart", 240, 262, [], { layer: "islands" }),
    browser("long task", 262, 330, []),
    ...Array.from({ length: 10 }, (_, i) => call(i, failed)),
    ...subscribed ? [socket()] : [],
    browser("web-vital INP", 5200, 5264, [], {
      attributes: { "app.detached": true, "app.vital.inp": 64 },
    }),
  ], {
    layer: "request",
    attributes: {
      "app.origin": "client",
      "app.action": "load",
      "url.path": "/shop",
      "app.clock.error": clockError,
      "app.vital.lcp": 388,
      "app.vital.cls": 0.02,
      "app.vital.ttfb": 84,
    },
  });
  return withHexIds(
    trace(page, {
      origin: "client",
      method: "GET",
      pathname: "/shop",
      statusCode: 200,
      routePattern: "/shop",
    }),
  );
}

function browser(
  name: string,
  start: number,
  end: number,
  below: readonly Sketch[],
  also: Also = {},
): Sketch {
  const attributes = { "app.origin": "client", ...also.attributes };
  return span(name, start, end, below, {
    layer: "request",
    ...also,
    attributes,
  });
}

function server(
  name: string,
  start: number,
  end: number,
  path: string,
  below: readonly Sketch[],
): Sketch {
  return span(name, start, end, below, {
    layer: "request",
    attributes: {
      "http.request.method": name.split(" ")[0]!,
      "url.path": path,
      "http.response.status_code": 200,
    },
  });
}

function sql(statement: string, start: number, end: number): Sketch {
  return span("db.query", start, end, [], {
    layer: "database",
    attributes: { "db.system.name": "sqlite", "db.query.text": statement },
  });
}

function documentRequest(): Sketch {
  return server("GET /shop", 16, 80, "/shop", [
    span("auth:session", 18, 20, [], {
      layer: "auth",
      attributes: { "app.auth.result": "authenticated" },
    }),
    span("loader:/shop", 20, 74, [
      span("cache.get", 21, 48, [
        sql("SELECT id, name, price FROM product WHERE featured = 1", 22, 47),
      ], {
        layer: "data",
        attributes: {
          "app.cache.key": "featured",
          "app.cache.result": "miss",
        },
      }),
      sql("SELECT text FROM banner WHERE active = 1", 48, 72),
    ], { layer: "data" }),
  ]);
}

function resource(path: string, start: number, end: number): Sketch {
  return browser(path, start, end, [
    server(`GET ${path}`, start + 3, end - 4, path, []),
  ], {
    attributes: { "http.request.method": "GET", "url.path": path },
  });
}

/** A fetch of the page, with its procedure. */
function call(i: number, failed: boolean): Sketch {
  const start = 334 + i * 2;
  const end = i === 9 ? 646 : 470 + i * 12;
  const path = "/api/rpc/stock.level";
  const isBroken = failed && i === 4;
  const inner = [
    ...[0, 1, 2].map((n) =>
      sql(
        `SELECT level FROM stock WHERE product = ${i * 3 + n}`,
        start + 14 + n * 12,
        start + 25 + n * 12,
      )
    ),
    ...i === 9 ? [prices(start + 52, end - 14)] : [],
  ];
  const error: Also = isBroken
    ? {
      status: "error",
      events: [{
        name: "exception",
        time: end - 9,
        attributes: {
          "exception.type": "RangeError",
          "exception.message": "The level of product 14 is negative: -3",
          "exception.stacktrace":
            "RangeError: The level of product 14 is negative: -3\n" +
            "    at checkLevel (file:///shop/data/stock.ts:41:11)\n" +
            "    at async level (file:///shop/rpc/stock.ts:18:20)\n" +
            "    at async run (https://jsr.io/@quartet/kit/0.1.0/rpc/server/run.ts:64:5)",
        },
      }],
    }
    : {};
  const status = isBroken ? 500 : 200;
  return browser(`fetch POST ${path}`, start, end, [
    span(`POST ${path}`, start + 8, end - 6, [
      span("rpc:stock.level", start + 10, end - 8, inner, {
        layer: "rpc",
        attributes: { "rpc.method": "stock.level", "app.rpc.type": "mutation" },
        ...error,
      }),
    ], {
      layer: "request",
      status: isBroken ? "error" : "ok",
      attributes: {
        "http.request.method": "POST",
        "url.path": path,
        "http.response.status_code": status,
      },
    }),
  ], {
    status: isBroken ? "error" : "ok",
    attributes: {
      "http.request.method": "POST",
      "url.full": ORIGIN + path,
      "http.response.status_code": status,
    },
  });
}

/** A call of another service, whose clock is 21 ms behind. */
function prices(start: number, end: number): Sketch {
  const service = { "service.name": "prices" };
  return span("fetch GET http://prices.internal/quote", start, end, [
    span("GET /quote", start + 4, end - 4, [
      span("SELECT price", start + 9, end - 12, [], {
        layer: "database",
        attributes: {
          ...service,
          "db.system.name": "postgresql",
          "db.query.text": "SELECT price FROM quote WHERE product = $1",
        },
      }),
    ], {
      layer: "request",
      attributes: {
        ...service,
        "app.clock.shift": 21,
        "http.request.method": "GET",
        "url.path": "/quote",
      },
      events: [{
        name: "log",
        time: START + start + 7,
        attributes: {
          "log.severity": "WARN",
          "log.body": "The price list is 26 hours old",
        },
      }],
    }),
  ], {
    attributes: {
      "http.request.method": "GET",
      "url.full": "http://prices.internal/quote",
    },
  });
}

/** The page's WebSocket with a running subscription. */
function socket(): Sketch {
  const also = { "app.detached": true, "app.open": true };
  return browser("websocket /api/rpc", 336, 336, [
    server("GET /api/rpc", 340, 346, "/api/rpc", []),
    span("rpc:stock.changes", 352, 352, [], {
      layer: "rpc",
      attributes: {
        ...also,
        "rpc.method": "stock.changes",
        "app.rpc.type": "subscription",
        "app.rpc.messages": 42,
        "app.rpc.bytes": 5_310,
        "app.rpc.last_message_time": START + 61_000,
      },
    }),
  ], { attributes: also });
}

/** Moves the trace to its start, and numbers its spans as ids. */
function withHexIds(made: SerializedTrace): SerializedTrace {
  const ids = new Map(
    made.spans.map(({ id }, i) => [id, (i + 1).toString(16).padStart(16, "0")]),
  );
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  return {
    ...made,
    id: traceId,
    rootSpanId: ids.get(made.rootSpanId)!,
    startTime: made.startTime + START,
    endTime: made.endTime + START,
    spans: made.spans.map((span) => ({
      ...span,
      id: ids.get(span.id)!,
      traceId,
      parentId: span.parentId === null ? null : ids.get(span.parentId)!,
      startTime: span.startTime + START,
      endTime: span.endTime + START,
      events: span.events.map((event) => ({
        ...event,
        time: event.time < START ? event.time + START : event.time,
      })),
      children: span.children.map((id) => ids.get(id)!),
    })),
  };
}
