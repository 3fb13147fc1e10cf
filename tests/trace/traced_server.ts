/**
 * A server with the viewer, its API and its socket, to run as a child process.
 * It prints a line of JSON: its port, and the id of a stored trace.
 *
 * Arguments: `plugin` or `handlers`, the way to mount them. Then optionally
 * `authorize`, a custom rule: everyone posts, and `x-user: admin` reads. Or
 * `local`: `isLocalRequest`.
 *
 * @module
 */

import { createApp } from "@quartet/kit/app";
import {
  type Authorize,
  createCollector,
  createOTLPReceiver,
  createTracer,
  createTracesAPIHandler,
  createTraceWebSocket,
  createViewerHandler,
  isLocalRequest,
  tracePlugin,
} from "@quartet/kit/trace";

const [mounting, rule] = Deno.args;

const authorize: Authorize = ({ headers }, _info, access) =>
  access === "write" || headers.get("x-user") === "admin";
const rules: Readonly<Record<string, Authorize>> = {
  authorize,
  local: isLocalRequest,
};
const options = rule === undefined ? {} : { authorize: rules[rule]! };

const tracer = createTracer();
const root = tracer.startTrace("GET /");
root.end();

const port = mounting === "plugin" ? await serveApp() : serveHandlers();
console.log(JSON.stringify({ port, traceId: root.traceId }));

async function serveApp(): Promise<number> {
  const app = createApp({ trace: tracePlugin(tracer, options) });
  const server = await app.serve({ port: 0, onListen() {} });
  return server.address.port;
}

function serveHandlers(): number {
  const hostname = "127.0.0.1";
  const server = Deno.serve({ hostname, port: 0, onListen() {} }, handlers());
  return server.addr.port;
}

function handlers(): Deno.ServeHandler {
  const viewer = createViewerHandler(options);
  const collector = createCollector(tracer);
  const api = createTracesAPIHandler(tracer, { ...options, collector });
  const stream = createTraceWebSocket(tracer, options);
  const otlp = createOTLPReceiver(tracer, options);
  return (request, info) => {
    switch (new URL(request.url).pathname) {
      case "/__app/traces":
        return viewer(request, info);
      case "/__app/traces/api":
        return api(request, info);
      case "/__app/traces/ws":
        return stream.upgrade(request, info);
      case "/__app/traces/otlp/v1/traces":
        return otlp(request, info);
      default:
        return new Response(null, { status: 404 });
    }
  };
}
