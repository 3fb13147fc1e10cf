/**
 * A hello-world server with ten spans a request, for `http.ts`. The first
 * argument says who makes the spans.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { ROOT_CONTEXT } from "@opentelemetry/api";
import {
  createTracer,
  getActiveSpan,
  traceMiddleware,
} from "@quartet/kit/trace";
import { Context } from "@quartet/kit/app";
import type { ConnectionInfo } from "@quartet/kit/app";
import {
  contextOf,
  createOpenTelemetry,
  endFloorSpan,
  floorSpan,
  keepFloorTrace,
  randomTraceId,
} from "./peers.ts";
import type { FloorSpan } from "./peers.ts";

type Handler = (
  request: Request,
  info: ConnectionInfo,
) => Response | Promise<Response>;

const CHILDREN = 9;
const hello = () => new Response("Hello, world!");

/** The path of a URL, cut out of the string. */
function pathOf(url: string): string {
  return url.slice(url.indexOf("/", 8));
}

function floor(): Handler {
  let index = 0;
  return (request) => {
    const traceId = randomTraceId();
    const spans: FloorSpan[] = [];
    const root = floorSpan(traceId, null, "GET", {
      method: request.method,
      path: pathOf(request.url),
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
 * The floor with everything that the middleware is asked to do around spans,
 * in the least code: it looks for `traceparent`, makes the root span the
 * active one, waits for the handler, sets both headers, and ends the trace
 * when the response has been sent.
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
      path: pathOf(request.url),
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

function kit(): Handler {
  const middleware = traceMiddleware(createTracer());
  const next = () => {
    const root = getActiveSpan()!;
    for (let i = 0; i < CHILDREN; i++) {
      root.child("db.query", "database", { a: "b", c: i }).end();
    }
    return Promise.resolve(hello());
  };
  return (request, info) =>
    middleware(request, new Context(request, info), next);
}

function openTelemetry(): Handler {
  const tracer = createOpenTelemetry();
  return (request) => {
    const root = tracer.startSpan("GET", {
      attributes: { method: request.method, path: pathOf(request.url) },
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
  "kit": kit,
  "opentelemetry": openTelemetry,
};

const handler = handlers[Deno.args[0]!]!();
Deno.serve({
  port: 0,
  hostname: "127.0.0.1",
  onListen: ({ port }) => console.log(port),
}, handler);
