/** Apps with their own tracing settings, under the dev command with --trace. */

import { assert, assertEquals } from "@std/assert";
import { addressOf, makeFolder, startDev } from "../dev/dev_command.ts";
import { ROOT } from "../helpers.ts";

const KIT = `
  import { createApp, toHono } from "${new URL("app/mod.ts", ROOT)}";
  import {
    createCLIReporter, createTracer, getActiveSpan, tracePlugin, withSpan,
  } from "${new URL("trace/mod.ts", ROOT)}";
  const work = () => withSpan("work", "custom", () => getActiveSpan()?.traceId);
`;

/** An app whose routes answer with the trace id that their code sees. */
const routes = (options: string, tracer = "") => `
  const tracer = createTracer(${tracer});
  createCLIReporter(tracer);
  export default createApp({
    trace: tracePlugin(tracer, ${options}),
    routes: ["/", "/health", "/static/app.js"].map((path) =>
      ({ path, loader: () => String(work()) })),
  });`;

interface Seen {
  /** The answer to each request: the body and the trace header. */
  readonly answers: (readonly [string, boolean])[];
  // deno-lint-ignore no-explicit-any -- JSON of the traces API
  readonly traces: any[];
  readonly printed: string;
}

/** Runs an app under the dev command, and requests some paths in order. */
async function visit(code: string, paths: readonly string[]): Promise<Seen> {
  await using folder = await makeFolder();
  await folder.write("main.ts", KIT + code);
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const url = await addressOf(child);
  const answers: [string, boolean][] = [];
  for (const path of paths) {
    const response = await fetch(new URL(path, url), {
      headers: { "user-agent": "a test" },
    });
    const hasHeader = response.headers.has("x-app-trace-id") ||
      response.headers.has("server-timing");
    answers.push([await response.text(), hasHeader]);
  }
  await child.printed(new RegExp(`^GET ${paths.at(-1)} 200`, "m"));
  const { traces } = await (await fetch(new URL("/__app/traces/api", url)))
    .json();
  return { answers, traces, printed: child.stdout };
}

/** Returns how many trees of a path were printed. */
function treesOf(path: string, printed: string): number {
  return printed.match(new RegExp(`^GET ${path} 200`, "gm"))?.length ?? 0;
}

Deno.test("dev --trace leaves out the paths that an app's own tracePlugin() excludes", async () => {
  const { answers, traces, printed } = await visit(
    routes(`{ exclude: ["/health", "/static/"] }`),
    ["/health", "/static/app.js", "/"],
  );
  const none = ['"undefined"', false] as const;
  assertEquals(answers.slice(0, 2), [none, none]);
  const [last] = traces;
  assertEquals(answers[2], [JSON.stringify(last.id), true]);
  assertEquals(traces.length, 1);
  assertEquals(last.metadata.pathname, "/");
  assertEquals(treesOf("/", printed), 1);
  assert(!printed.includes("/health"), printed);
});

Deno.test("dev --trace records the headers and layers that an app's own tracing selects", async () => {
  const { traces, printed } = await visit(
    routes(
      `{ recordHeaders: ["user-agent"], sample: 0 }`,
      `{ layers: ["request", "custom"] }`,
    ),
    ["/"],
  );
  assertEquals(traces.length, 1);
  const [{ spans }] = traces;
  assertEquals(
    spans.map(({ name }: { name: string }) => name),
    ["GET /", "work"],
  );
  const { attributes } = spans[0];
  assertEquals(attributes["http.request.header.user-agent"], "a test");
  assertEquals(treesOf("/", printed), 1);
});

Deno.test("dev --trace leaves out requests shorter than an app's own minDurationMs", async () => {
  const { traces, printed } = await visit(
    `
    const plugin = tracePlugin(createTracer({ minDurationMs: 200 }));
    export default createApp({
      trace: plugin,
      routes: [
        { path: "/quick", loader: () => "quick" },
        { path: "/slow", loader: () =>
          new Promise((resolve) => setTimeout(resolve, 250, "slow")) },
      ],
    });`,
    ["/quick", "/slow"],
  );
  assertEquals(traces.length, 1);
  assertEquals(traces[0].metadata.routePattern, "/slow");
  assert(!printed.includes("GET /quick"), printed);
});

Deno.test("dev --trace uses only the settings of the outermost tracing middleware", async () => {
  const { traces } = await visit(
    `
    const inner = createApp({
      trace: tracePlugin(createTracer(), { exclude: ["/"] }),
      routes: [{ path: "/", loader: () => "inner" }],
    });
    export default createApp({
      trace: tracePlugin(createTracer()),
      routes: [{
        path: "/",
        handler: (request, { info }) => inner.fetch(request, info),
      }],
    });`,
    ["/"],
  );
  assertEquals(traces.length, 1);
});

Deno.test("dev --trace leaves out paths that toHono(tracePlugin()) excludes", async () => {
  const { answers, traces } = await visit(
    `
    import { Hono } from "hono";
    const app = new Hono();
    app.use(toHono(tracePlugin(createTracer(), { exclude: ["/health"] })));
    app.get("/health", (c) => c.text("fine"));
    app.get("/", (c) => c.text("home"));
    export default app;`,
    ["/health", "/"],
  );
  assertEquals(answers, [["fine", false], ["home", true]]);
  assertEquals(traces.length, 1);
  assertEquals(traces[0].metadata.routePattern, "/");
});

Deno.test("dev --trace warns once if withSpan() is called outside of a request", async () => {
  const note =
    'Traces: withSpan("work") records nothing outside of a request. To start a trace there, call getTracer().withSpan().\n';
  await using folder = await makeFolder();
  await folder.write("main.ts", `${KIT}${routes("{}")} work(); work();`);
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const url = await addressOf(child);
  await (await fetch(url)).text();
  await child.printed(/^GET \/ 200/m);
  assertEquals(child.stderr, note);

  // An excluded request is still a request.
  await folder.write("main.ts", KIT + routes(`{ exclude: ["/health"] }`));
  await using quiet = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const quietUrl = await addressOf(quiet);
  for (const path of ["/health", "/"]) {
    await (await fetch(new URL(path, quietUrl))).text();
  }
  await quiet.printed(/^GET \/ 200/m);
  assertEquals(quiet.stderr, "");
});
