/**
 * A hello-world server with ten spans per request, for `http.ts`. The first
 * argument names the tracer.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { ROOT_CONTEXT } from "@opentelemetry/api";
import { type ConnectionInfo, Context, createApp } from "@quartet/kit/app";
import {
  createTracer,
  getActiveSpan,
  traceMiddleware,
  tracePlugin,
} from "@quartet/kit/trace";
import { cutPath, hasValidHost } from "../app/floor.ts";
import {
  contextOf,
  createOpenTelemetry,
  endFloorSpan,
  type FloorSpan,
  floorSpan,
  keepFloorTrace,
  randomTraceId,
} from "./peers.ts";

type Handler = (
  request: Request,
  info: ConnectionInfo,
) => Response | Promise<Response>;

const CHILDREN = 9;
const hello = () => new Response("Hello, world!");

function floor(): Handler {
  let index = 0;
  return (request) => {
    const traceId = randomTraceId();
    const spans: FloorSpan[] = [];
    const root = floorSpan(traceId, null, "GET", {
      method: request.method,
      path: cutPath(request.url),
    });
    for (let i = 0; i < CHILDREN; i++) {
      const span = floorSpan(traceId, root.id, "db.query", { a: "b", c: i });
      endFloorSpan(spans, span);
    }
    const response = hello();
    response.headers.set("x-app-trace-id", traceId);
    endFloorSpan(spans, root);
    keepFloorTrace(spans, index++);
    return response;
  };
}

/**
 * The floor with all duties of the middleware, in the least code. It reads
 * `traceparent`, activates the root span, waits for the handler, sets both
 * headers, and ends the trace when the response has been sent.
 */
function duties(): Handler {
  const storage = new AsyncLocalStorage<FloorSpan>();
  let index = 0;
  return (request, info) => {
    const traceId = request.headers.get("traceparent")?.slice(3, 35) ??
      randomTraceId();
    const spans: FloorSpan[] = [];
    const root = floorSpan(traceId, null, "GET", {
      method: request.method,
      path: cutPath(request.url),
    });
    const next = () => {
      const { id } = storage.getStore()!;
      for (let i = 0; i < CHILDREN; i++) {
        const span = floorSpan(traceId, id, "db.query", { a: "b", c: i });
        endFloorSpan(spans, span);
      }
      return Promise.resolve(hello());
    };
    return storage.run(root, async () => {
      const response = await next();
      const { headers } = response;
      const elapsed = performance.now() - root.startTime;
      headers.set("x-app-trace-id", traceId);
      headers.append("server-timing", `total;dur=${elapsed.toFixed(3)}`);
      info.completed!.then(() => {
        endFloorSpan(spans, root);
        keepFloorTrace(spans, index++);
      });
      return response;
    });
  };
}

/** The additional duties of a host. */
function dutiesAndHost(): Handler {
  const handler = duties();
  return (request, info) =>
    hasValidHost(request)
      ? handler(request, info)
      : new Response(null, { status: 400 });
}

function helloWithSpans(): Response {
  const root = getActiveSpan()!;
  for (let i = 0; i < CHILDREN; i++) {
    root.child("db.query", "database", { a: "b", c: i }).end();
  }
  return hello();
}

function middleware(): Handler {
  const traced = traceMiddleware(createTracer());
  const next = () => Promise.resolve(helloWithSpans());
  return (request, info) => traced(request, new Context(request, info), next);
}

/** An app with the plugin and a route. */
function host(): Handler {
  const app = createApp({
    trace: tracePlugin(createTracer()),
    routes: [{ path: "/", handler: helloWithSpans }],
  });
  return (request, info) => app.fetch(request, info);
}

function openTelemetry(): Handler {
  const tracer = createOpenTelemetry();
  return (request) => {
    const root = tracer.startSpan("GET", {
      attributes: { method: request.method, path: cutPath(request.url) },
    }, ROOT_CONTEXT);
    const parent = contextOf(root);
    for (let i = 0; i < CHILDREN; i++) {
      tracer.startSpan("db.query", { attributes: { a: "b", c: i } }, parent)
        .end();
    }
    const response = hello();
    response.headers.set("x-app-trace-id", root.spanContext().traceId);
    root.setAttribute("http.response.status_code", response.status);
    root.end();
    return response;
  };
}

const handlers: Readonly<Record<string, () => Handler>> = {
  "bare": () => hello,
  "floor": floor,
  "duties": duties,
  "duties and Host": dutiesAndHost,
  "kit, middleware": middleware,
  "kit, host": host,
  "OpenTelemetry": openTelemetry,
};

const handler = handlers[Deno.args[0]!]!();
Deno.serve({
  port: 0,
  hostname: "127.0.0.1",
  onListen: ({ port }) => console.log(port),
}, handler);
