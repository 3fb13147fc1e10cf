/**
 * The route for coding assistants, used by the official client of the Model
 * Context Protocol.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createTracer,
  type Span,
  tracePlugin,
  type TracerImpl,
} from "@quartet/kit/trace";
import { startMCP } from "../../dev/mcp/start.ts";
import type { RunRecord } from "../../dev/runs/run_history.ts";
import type { Finding } from "../../trace/finding.ts";
import { connectAssistant } from "./assistant.ts";

const PATH = "/__app/traces/mcp";

/** Starts a server with the route. */
async function startServer(tracer: TracerImpl = createTracer()) {
  const findings: Finding[] = [];
  const runs: RunRecord[] = [];
  startMCP({
    tracer,
    findings: { list: () => findings, of: () => [] },
    runs: { list: () => Promise.resolve(runs) },
  });
  const app = createApp({
    trace: tracePlugin(tracer, {
      authorize: (request) => !request.headers.has("x-stranger"),
    }),
  });
  const server = await app.serve({ port: 0, hostname: "127.0.0.1" });
  const url = new URL(PATH, `http://127.0.0.1:${server.address.port}`);
  return {
    tracer,
    findings,
    runs,
    url,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Records a request whose handler does something. */
function request(
  tracer: TracerImpl,
  path: string,
  status: number,
  run: (span: Span) => void = () => {},
): string {
  const span = tracer.startTrace(`GET ${path}`, "request", {
    attributes: {
      "http.request.method": "GET",
      "url.path": path,
      "http.route": path,
    },
  });
  run(span);
  span.setAttribute("http.response.status_code", status);
  if (status >= 500) span.error();
  span.end();
  return span.traceId;
}

function query(span: Span, text: string, line: number): void {
  span.child("db.query", "database", {
    "db.query.text": text,
    "code.file.path": `${Deno.cwd()}/books.ts`,
    "code.line.number": line,
  }).end();
}

for (const mode of ["auto", "legacy"] as const) {
  Deno.test(`The official client (${mode}) connects, lists the tools and calls them`, async () => {
    await using server = await startServer();
    await using assistant = await connectAssistant(server.url, mode);
    const { client } = assistant;
    assertEquals(client.getServerVersion()?.name, "quartet-dev");
    assertEquals(
      client.getNegotiatedProtocolVersion(),
      mode === "auto" ? "2026-07-28" : "2025-11-25",
    );
    assertMatch(client.getInstructions() ?? "", /Begin with summary/);
    const { tools } = await client.listTools();
    assertEquals(tools.map(({ name }) => name), [
      "summary",
      "recent_errors",
      "slow_routes",
      "findings",
      "get_trace",
      "compare_runs",
      "get_logs",
    ]);
    assertMatch(await assistant.call("summary"), /^No request was traced yet/);
  });
}

Deno.test("The tools lead from the summary to the line of an error and of a repeated query", async () => {
  await using server = await startServer();
  const { tracer } = server;
  request(tracer, "/ok", 200);
  request(tracer, "/boom", 500, (span) => {
    const loader = span.child("loader:boom", "data", {
      "code.file.path": `${Deno.cwd()}/boom.ts`,
      "code.line.number": 7,
    });
    loader.event("log", { "log.severity": "warn", "log.body": "no cover" });
    loader.event("log", { "log.severity": "info", "log.body": "two\nlines" });
    loader.error(new RangeError("no such book"));
    loader.end();
  });
  request(tracer, "/books", 200, (span) => {
    for (let i = 0; i < 12; i++) {
      query(span, `SELECT name FROM author WHERE id = ${i}`, 41);
    }
    span.child("cache.get", "data", {
      "app.cache.key": "books",
      "app.reason": "miss: it was never computed",
    }).end();
  });
  await using assistant = await connectAssistant(server.url);

  const summary = await assistant.call("summary");
  assertMatch(summary, /3 requests and jobs in 3 routes, 1 failed/);
  assertStringIncludes(
    summary,
    "GET /boom 500 RangeError: no such book boom.ts:7",
  );

  const errors = await assistant.call("recent_errors");
  assertMatch(errors, /^1 failed request, /);
  assertStringIncludes(
    errors,
    "- GET /boom 500 RangeError: no such book boom.ts:7",
  );
  const [, id] = /get_trace id ([\da-f]{32})/.exec(errors)!;

  const trace = await assistant.call("get_trace", { id });
  assertMatch(trace, /^GET \/boom 500 [\d.]+ ms #[\da-f]{16}$/m);
  assertMatch(trace, /^ {2}data loader:boom [\d.]+ ms boom\.ts:7$/m);
  assertMatch(trace, /^ {4}error: RangeError: no such book$/m);
  assertMatch(trace, /^ {4}log warn: no cover$/m);

  const slow = await assistant.call("slow_routes", { route: "/books" });
  assertMatch(slow, /^1 route, .*\n- GET \/books: 1 ×, .*, 12 queries$/m);
  assertMatch(
    slow,
    /in 12 × SELECT name FROM author WHERE id = \? books\.ts:41$/m,
  );
  const [, slowest] = /slowest: get_trace id (\w+)/.exec(slow)!;
  assertMatch(
    await assistant.call("get_trace", { id: slowest }),
    /^ {2}12 × database [\d.]+ ms SELECT name FROM author WHERE id = \? books\.ts:41\n {2}data cache\.get .*\n {4}reason: miss: it was never computed$/m,
  );

  const logs = await assistant.call("get_logs", { id });
  assertMatch(logs, /^2 logs of GET \/boom\n/);
  assertMatch(logs, /log info: two⏎lines \(loader:boom boom\.ts:7\)$/m);
  const warnings = await assistant.call("get_logs", { id, severity: "warn" });
  assertMatch(warnings, /^1 log of GET \/boom, of 2\n.*no cover/);
});

Deno.test("Each fact is one line, also if steps repeat it or a name has line breaks", async () => {
  await using server = await startServer();
  const { tracer } = server;
  const id = request(tracer, "/cached", 200, (span) => {
    for (let i = 0; i < 3; i++) {
      span.child("cache.get", "data", {
        "app.cache.key": "books",
        "app.reason": "hit",
      }).end();
    }
    // As other services record it.
    const call = span.child("call", "custom");
    call.event("exception", {
      "exception.type": "KeyError",
      "exception.message": "no\nbook",
    });
    for (let i = 0; i < 2; i++) call.event("log", { "log.body": "retry" });
    call.error();
    call.end();
  });
  server.findings.push({
    rule: "exception",
    message: "KeyError",
    location: "a\nb.ts:1",
    traceId: id,
    spanIds: [],
    time: Date.now(),
    count: 1,
  });
  await using assistant = await connectAssistant(server.url);
  assertMatch(
    await assistant.call("get_trace", { id }),
    /^ {2}3 × data cache\.get [\d.]+ ms books\n {4}reason: hit\n {2}call [\d.]+ ms\n {4}error: KeyError: no⏎book(\n {4}log info: retry){2}$/m,
  );
  assertMatch(
    await assistant.call("summary"),
    /^1 finding: call findings\. The latest: KeyError a⏎b\.ts:1\n/m,
  );
});

Deno.test("Assistants read the findings, and how runs differ", async () => {
  await using server = await startServer();
  const { tracer } = server;
  const traceId = request(tracer, "/books", 200);
  const finding: Finding = {
    rule: "repeated-query",
    message: "12 × SELECT … WHERE id = ?",
    location: "books.ts:41",
    route: "GET /books",
    traceId,
    spanIds: ["0123456789abcdef"],
    time: Date.now(),
    count: 3,
  };
  await using assistant = await connectAssistant(server.url);
  assertMatch(
    await assistant.call("findings"),
    /^No findings: call slow_routes/,
  );
  assertMatch(await assistant.call("compare_runs"), /^No earlier run /);

  const figures = { requests: 5, traceId };
  server.findings.push(finding);
  server.runs.push(
    {
      start: Date.now(),
      changed: ["books.ts"],
      comparisons: [{
        route: "GET /books",
        status: 200,
        verdict: "slower",
        before: { ...figures, queries: 12, duration: 8 },
        after: { ...figures, queries: 72, duration: 41 },
        previous: Date.now() - 60_000,
        changed: ["books.ts"],
        difference: "",
      }],
    },
    { start: 1_000, changed: [], comparisons: [] },
    { start: 0, changed: [], comparisons: [] },
  );
  const found = await assistant.call("findings");
  assertStringIncludes(
    found,
    "- repeated-query: 12 × SELECT … WHERE id = ? books.ts:41\n  GET /books, 3 traces, ",
  );
  assertStringIncludes(
    found,
    `get_trace id ${traceId} (spans 0123456789abcdef)`,
  );
  assertMatch(
    await assistant.call("findings", { id: traceId }),
    /^No findings/,
  );
  assertMatch(await assistant.call("summary"), /^1 finding: call findings/m);
  const compared = await assistant.call("compare_runs");
  assertMatch(
    compared,
    /^- slower: GET \/books 200: 12 → 72 queries, 8\.0 ms → 41 ms/m,
  );
  assertMatch(compared, /changed: books\.ts$/m);
  assertMatch(compared, /^Another run began .*: pass run 1000$/m);
  assertMatch(
    await assistant.call("compare_runs", { run: 1_000 }),
    /^The run 1000 began .*\n.*: 0 different routes, 0 the same\.$/m,
  );
  const wrong = await assistant.result("compare_runs", { run: 7 });
  assertMatch(wrong.text, /run must be one of \d+, 1000, received 7$/);
});

Deno.test("Answers are bounded, and say how to get the rest", async () => {
  await using server = await startServer(
    createTracer({ maxSpansPerTrace: 2_000 }),
  );
  const { tracer } = server;
  let inner = "";
  const id = request(tracer, "/large", 200, (span) => {
    for (let i = 0; i < 999; i++) {
      const step = span.child(`step ${i} ${"x".repeat(250)}`, "custom");
      const below = step.child("below", "custom");
      below.event("log", { "log.severity": "info", "log.body": `log ${i}` });
      below.end();
      step.end();
      inner = step.id;
    }
  });
  for (let i = 0; i < 60; i++) request(tracer, `/route${i}`, 200);
  await using assistant = await connectAssistant(server.url);

  const lines = (await assistant.call("get_trace", { id, lines: 40 })).split(
    "\n",
  );
  assertEquals(lines.length, 42);
  assertMatch(lines.at(-1)!, /^… \d+ more: pass span to see the part below/);
  const part = await assistant.call("get_trace", { id, span: inner });
  assertMatch(part, /log info: log 998$/);
  const longest = await assistant.call("get_trace", { id, lines: 400 });
  assert(longest.length <= 12_000);
  assertMatch(longest, /… \d+ more lines were left out: ask for less$/);
  assertMatch(
    await assistant.call("get_logs", { id }),
    /… 949 more: pass limit, severity or contains$/,
  );
  assertMatch(
    await assistant.call("slow_routes", { limit: 50 }),
    /… 11 more: pass limit or route$/,
  );
});

Deno.test("A wrong argument is an error that names what to pass or call", async () => {
  await using server = await startServer();
  const id = request(server.tracer, "/", 200);
  await using assistant = await connectAssistant(server.url);
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ["get_trace", {}, /^id must be given$/],
    ["get_trace", { id: 7 }, /^id must be a text, received 7$/],
    [
      "get_trace",
      { id: "0af" },
      /^Cannot find trace: id must be a trace id from summary, /,
    ],
    [
      "get_trace",
      { id, span: "0af" },
      /^Cannot get trace: span must be an id .* received 0af$/,
    ],
    ["get_trace", { idd: id }, /^Unknown argument "idd": did you mean id\?$/],
    ["summary", { x: 1 }, /^Unknown argument "x": must be one of none$/],
    ["get_logs", { id, severity: "loud" }, /^severity must be one of debug, /],
    ["slow_routes", { limit: 51 }, /^limit must be an integer from 1 to 50, /],
    ["findings", { id: "\u001b[31m" }, /findings, received \\x1b\[31m$/],
  ];
  for (const [tool, args, message] of cases) {
    const { isError, text } = await assistant.result(tool, args);
    assert(isError, text);
    assertMatch(text, message);
  }
});
