import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ROOT, startDeno } from "../helpers.ts";
import { addressOf, makeFolder, startDev } from "../dev/dev_command.ts";
import {
  all,
  askForTraces,
  startTracedServer,
  type TracedServerOptions,
} from "./ask_for_traces.ts";

const MOUNTINGS = ["plugin", "handlers"];

/** Settings that mean production. */
const PRODUCTIONS: readonly (
  & { readonly what: string }
  & Omit<TracedServerOptions, "args">
)[] = [
  { what: "DENO_ENV=production", env: { DENO_ENV: "production" } },
  { what: "NODE_ENV=production", env: { NODE_ENV: "production" } },
  { what: "DENO_DEPLOYMENT_ID", env: { DENO_DEPLOYMENT_ID: "abc" } },
  { what: "no --allow-env", flags: ["--allow-net"] },
  {
    what: "an environment that can be read only in part",
    flags: ["--allow-net", "--allow-env=DENO_ENV,NODE_ENV"],
  },
];

const target = (port: number) => ({ hostname: "127.0.0.1", port });

for (const mounting of MOUNTINGS) {
  for (const { what, ...options } of PRODUCTIONS) {
    Deno.test(`With ${what}, ${mounting} without authorize answer 403 and warn once`, async () => {
      const { child, port, traceId } = await startTracedServer({
        ...options,
        args: [mounting],
      });
      await using _ = child;
      const statuses = await askForTraces(target(port), {}, traceId);
      assertEquals(statuses, all(403));

      const url = `http://127.0.0.1:${port}/__app/traces`;
      for (
        const [path, method, message] of [
          ["", "GET", "Cannot show traces"],
          ["/api", "GET", "Cannot show traces"],
          ["/api", "POST", "Cannot take spans"],
          ["/ws", "GET", "Cannot show traces"],
          ["/ws?role=client", "GET", "Cannot take spans"],
        ] as const
      ) {
        const response = await fetch(url + path, { method });
        assertEquals(await response.json(), {
          error: {
            code: "FORBIDDEN",
            message:
              `${message}: authorize must be given in production, as in tracePlugin(tracer, { authorize }). Without permission to read DENO_ENV and NODE_ENV, this counts as production`,
          },
        });
      }
      assertEquals(child.stderr.match(/^Traces: /gm)?.length, 1);
      assertMatch(child.stderr, /answer 403, because authorize must be given/);
    });
  }

  Deno.test(`In production, ${mounting} with authorize follow its decision and don't warn`, async () => {
    const { child, port, traceId } = await startTracedServer({
      env: { DENO_ENV: "production" },
      args: [mounting, "authorize"],
    });
    await using _ = child;
    const admin = { "x-user": "admin" };
    assertEquals(await askForTraces(target(port), admin, traceId), {
      viewer: 200,
      api: 200,
      ws: 101,
      post: 202,
      wsClient: 101,
      otlp: 200,
    });
    assertEquals(await askForTraces(target(port), {}, traceId), {
      viewer: 403,
      api: 403,
      ws: 403,
      post: 202,
      wsClient: 101,
      otlp: 200,
    });
    assertEquals(child.stderr, "");
  });

  Deno.test(`In production, ${mounting} with isLocalRequest refuse without naming the condition`, async () => {
    const { child, port } = await startTracedServer({
      env: { DENO_ENV: "production" },
      args: [mounting, "local"],
    });
    await using _ = child;
    const url = `http://127.0.0.1:${port}/__app/traces`;
    const headers = { "x-forwarded-for": "192.0.2.1" };
    for (
      const [path, method, action] of [
        ["", "GET", "read traces"],
        ["/api", "POST", "post spans"],
      ] as const
    ) {
      const response = await fetch(url + path, { method, headers });
      assertEquals([response.status, await response.json()], [403, {
        error: {
          code: "FORBIDDEN",
          message: `This request may not ${action}: authorize refused it`,
        },
      }]);
    }
  });

  Deno.test(`Outside production, ${mounting} without authorize allow this machine and warn once`, async () => {
    const { child, port, traceId } = await startTracedServer({
      args: [mounting],
    });
    await using _ = child;
    assertEquals(await askForTraces(target(port), {}, traceId), {
      viewer: 200,
      api: 200,
      ws: 101,
      post: 202,
      wsClient: 101,
      otlp: 200,
    });
    const warnings = child.stderr.match(/^Traces: .*$/gm) ?? [];
    assertEquals(warnings.length, 1);
    assertStringIncludes(warnings[0]!, "because authorize isn't given");
    assertStringIncludes(warnings[0]!, "tracePlugin(tracer, { authorize })");
  });
}

/** An app that mounts the viewer, the API and the stream without `authorize`. */
const APP = `
  import { createApp } from "${new URL("app/mod.ts", ROOT)}";
  import * as trace from "${new URL("trace/mod.ts", ROOT)}";
  const tracer = trace.createTracer();
  trace.createViewerHandler();
  trace.createTracesAPIHandler(tracer);
  trace.createTraceWebSocket(tracer);
  export default createApp({ trace: trace.tracePlugin(tracer) });`;

for (const flags of [[], ["--trace"]]) {
  Deno.test(`Under dev ${flags.join("")}, an app that mounts the viewer isn't warned, and this machine reads its traces`, async () => {
    await using folder = await makeFolder();
    await folder.write("main.ts", APP);
    await using child = startDev(["main.ts", "--port", "0", ...flags], folder);
    const url = await addressOf(child);
    assertEquals(await askForTraces(target(Number(url.port))), {
      viewer: 200,
      api: 200,
      ws: 101,
      // The id is all zeros.
      post: 400,
      wsClient: 101,
      otlp: 200,
    });
    assertEquals(child.stderr, "");
  });
}

Deno.test("dev --trace shows its traces without --allow-env, which would otherwise mean production", async () => {
  await using folder = await makeFolder();
  const path = `${folder.path}/main.ts`;
  await folder.write(
    "main.ts",
    "export default { fetch: () => new Response() };",
  );
  await using child = startDeno(
    [
      "run",
      "--no-check",
      "--allow-net",
      "--allow-read",
      "dev.ts",
      path,
      "--trace",
      "--port",
      "0",
    ],
  );
  const url = await addressOf(child);
  const statuses = await askForTraces(target(Number(url.port)));
  assertEquals([statuses.viewer, statuses.api, statuses.ws], [200, 200, 101]);
  child.kill("SIGTERM");
  assertEquals([await child.code, child.stderr], [0, ""]);
});
