/** Options of a wrong type are rejected where they are passed. */

import { assertMatch, assertThrows } from "@std/assert";
import {
  createCLIReporter,
  createCollector,
  createOTLPExporter,
  createOTLPReceiver,
  createTracer,
  createTracesAPIHandler,
  createTraceWebSocket,
  createViewerHandler,
  tracedFetch,
  traceMiddleware,
  tracePlugin,
} from "@quartet/kit/trace";

// deno-lint-ignore no-explicit-any -- options that JavaScript may pass
type Any = any;

const tracer = createTracer();
const middleware = (options: Any) => traceMiddleware(tracer, options);
const plugin = (options: Any) => tracePlugin(tracer, options);
const collector = (options: Any) => createCollector(tracer, options);
const socket = (options: Any) => createTraceWebSocket(tracer, options);
const api = (options: Any) => createTracesAPIHandler(tracer, options);
const reporter = (options: Any) => createCLIReporter(tracer, options);

const CASES: [make: (options: Any) => unknown, options: Any, error: string][] =
  [
    [
      middleware,
      { exclude: ["/a", "health"] },
      'trace requests: exclude must be paths such as "/health", or prefixes such as "/static/", without a query or "*", received "health"',
    ],
    [
      middleware,
      { exclude: ["/health?deep"] },
      'without a query or "*", received "/health?deep"',
    ],
    [middleware, { exclude: ["/static/*"] }, 'received "/static/*"'],
    [middleware, { exclude: [/health/] }, "received an object"],
    [
      plugin,
      { exclude: "/health" },
      'create trace plugin: exclude must be an array of paths, received "/health"',
    ],
    [
      middleware,
      { recordHeaders: ["accept", "x y"] },
      'recordHeaders must be names of headers, received "x y"',
    ],
    [
      middleware,
      { recordHeaders: "accept" },
      'recordHeaders must be a boolean or an array of names, received "accept"',
    ],
    [
      (options) => traceMiddleware(options),
      { exclude: ["/health"] },
      "trace requests: tracer must be the result of createTracer(), received an object",
    ],
    [
      (options) => tracePlugin(options),
      { exclude: ["/health"] },
      "create trace plugin: tracer must be the result of createTracer(), received an object",
    ],
    [
      (options) => createCLIReporter(options),
      undefined,
      "create CLI reporter: tracer must be the result of createTracer(), received undefined",
    ],
    [
      (tracer) =>
        createOTLPExporter({ url: "http://localhost:4318" }).attach(tracer),
      undefined,
      "attach a tracer: it must be the result of createTracer(), received undefined",
    ],
    [
      (options) => createCollector(options),
      { maxSpans: 5 },
      "create collector: tracer must be the result of createTracer(), received an object without a function mergeClientSpans",
    ],
    [
      (options) => createTracesAPIHandler(options),
      { authorize: () => true },
      "create traces API handler: tracer must be the result of createTracer(), received an object",
    ],
    [
      (options) => createOTLPReceiver(options),
      { authorize: () => true },
      "create OTLP receiver: tracer must be the result of createTracer(), received an object",
    ],
    [
      (options) => createTraceWebSocket(options),
      undefined,
      "create trace socket: tracer must be the result of createTracer(), received undefined",
    ],
    [
      plugin,
      { authorize: true },
      "authorize must be a function, received true",
    ],
    [
      createTracer,
      { layers: "data" },
      'create tracer: layers must be an array of layers, received "data"',
    ],
    [createTracer, { layers: [{}] }, "received an object"],
    [
      createTracer,
      { minDurationMs: "5" },
      'minDurationMs must be a number of milliseconds, 0 or more, or Infinity, received "5"',
    ],
    [createTracer, { maxTraces: "5" }, 'received "5"'],
    [
      createTracer,
      { clock: { now: Date.now } },
      "clock must be an object with monotonic() and wall(), received an object",
    ],
    [
      createTracer,
      { random: 7 },
      "random must be a function, received 7",
    ],
    [
      collector,
      { maxSpans: NaN },
      "create collector: maxSpans must be a positive integer, received NaN",
    ],
    [collector, { now: 0 }, "now must be a function, received 0"],
    [
      socket,
      { authorize: "me" },
      'create trace socket: authorize must be a function, received "me"',
    ],
    [socket, { now: 0 }, "now must be a function, received 0"],
    [
      socket,
      { collector: {} },
      "collector must be an object with receive(), received an object",
    ],
    [
      api,
      { authorize: null },
      "create traces API handler: authorize must be a function, received null",
    ],
    [
      api,
      { collector: true },
      "collector must be an object with receive(), received true",
    ],
    [
      createViewerHandler,
      { authorize: {} },
      "create viewer handler: authorize must be a function, received an object",
    ],
    [
      reporter,
      { width: NaN },
      "create CLI reporter: width must be a positive number, received NaN",
    ],
    [reporter, { width: 0 }, "received 0"],
    [
      reporter,
      { slowMs: NaN },
      "slowMs must be a number of milliseconds, 0 or more, or Infinity, received NaN",
    ],
    [
      reporter,
      { write: "stdout" },
      'write must be a function, received "stdout"',
    ],
    [
      tracedFetch,
      { trustedOrigins: "https://api.example.com" },
      'trace fetch: trustedOrigins must be an array of origins or "*", received "https://api.example.com"',
    ],
    [tracedFetch, { trustedOrigins: [7n] }, "at the end, received 7"],
    [tracedFetch, { fetch: {} }, "fetch must be a function, received"],
  ];

Deno.test("An option of a wrong type is rejected by name where it is passed", () => {
  for (const [make, options, error] of CASES) {
    const { message } = assertThrows(() => make(options), TypeError, error);
    assertMatch(
      message,
      /^Cannot [a-zA-Z ]+: \w+ must be .+, received /,
    );
  }
});
