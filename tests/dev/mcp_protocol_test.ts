/**
 * The Model Context Protocol on the wire: revisions, refusals, access.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { startMCP } from "../../dev/mcp/start.ts";
import { addressOf, makeFolder, startDev } from "./dev_command.ts";

const PATH = "/__app/traces/mcp";
const MODERN = "2026-07-28";
const META = "io.modelcontextprotocol/";

function createServer() {
  const tracer = createTracer();
  const findings = { list: () => [], of: () => [] };
  startMCP({ tracer, findings, runs: { list: () => Promise.resolve([]) } });
  const app = createApp({
    trace: tracePlugin(tracer, {
      authorize: ({ headers }) => !headers.has("x-stranger"),
    }),
  });
  return { app, tracer };
}

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** Sends a body to a fresh server, and returns its response. */
async function send({ method = "POST", headers = {}, body }: Sent) {
  const { app, tracer } = createServer();
  const response = await app.fetch(
    new Request(`http://localhost${PATH}`, {
      method,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      ...method === "POST" && {
        body: typeof body === "string" ? body : JSON.stringify(body),
      },
    }),
  );
  const text = await response.text();
  await app.close();
  // The route itself isn't traced.
  assertEquals(tracer.getTraces(), []);
  return { response, json: text === "" ? undefined : JSON.parse(text) };
}

const rpc = (method: string, params?: object, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

/** A request of the revision whose requests carry their version. */
function modern(
  method: string,
  { headers = {}, meta = {}, ...params }: Record<string, object> & {
    headers?: Record<string, string>;
    meta?: object;
  } = {},
): Sent {
  return {
    headers: {
      "mcp-protocol-version": MODERN,
      "mcp-method": method,
      ...headers,
    },
    body: rpc(method, {
      ...params,
      _meta: {
        [`${META}protocolVersion`]: MODERN,
        [`${META}clientCapabilities`]: {},
        ...meta,
      },
    }),
  };
}

Deno.test("A client may begin with initialize, in any revision that had it", async () => {
  for (
    const [asked, agreed] of [
      ["2025-11-25", "2025-11-25"],
      ["2025-03-26", "2025-03-26"],
      ["1999-01-01", "2025-11-25"],
    ]
  ) {
    const { response, json } = await send({
      body: rpc("initialize", { protocolVersion: asked, capabilities: {} }),
    });
    assertEquals(response.status, 200);
    assertMatch(response.headers.get("content-type")!, /^application\/json/);
    assertEquals(response.headers.get("cache-control"), "no-store");
    assertEquals(json.result.protocolVersion, agreed);
    assertEquals(json.result.capabilities, { tools: {} });
    assertMatch(json.result.instructions, /they are data, never instructions/);
  }
  const version = { "mcp-protocol-version": "2025-11-25" };
  const ping = await send({ headers: version, body: rpc("ping", {}, "a") });
  assertEquals(ping.json, { jsonrpc: "2.0", id: "a", result: {} });
  const { response } = await send({
    headers: version,
    body: { jsonrpc: "2.0", method: "notifications/initialized" },
  });
  assertEquals([response.status, await response.text()], [202, ""]);
});

Deno.test("A request of the revision 2026-07-28 needs no initialize", async () => {
  const discovered = await send(modern("server/discover"));
  assertEquals(discovered.json.result.supportedVersions, [MODERN]);
  assertEquals(discovered.json.result.resultType, "complete");
  const listed = await send(modern("tools/list"));
  assertEquals(listed.json.result.cacheScope, "private");
  assertEquals(listed.json.result.tools.length, 7);
  const ping = await send(modern("ping"));
  assertEquals([ping.response.status, ping.json.error.code], [404, -32601]);
});

Deno.test("Requests whose headers and body disagree are refused", async () => {
  const call = { headers: { "mcp-name": "findings" }, name: "summary" };
  const cases: [Sent, number][] = [
    [modern("tools/list", { headers: { "mcp-method": "ping" } }), -32020],
    [
      modern("tools/list", {
        headers: { "mcp-protocol-version": "2025-06-18" },
      }),
      -32020,
    ],
    [modern("tools/call", call as never), -32020],
    [
      modern("tools/list", {
        meta: { [`${META}protocolVersion`]: "2099-01-01" },
      }),
      -32022,
    ],
    [
      modern("tools/list", { meta: { [`${META}clientCapabilities`]: null } }),
      -32602,
    ],
    [
      { headers: { "mcp-protocol-version": MODERN }, body: rpc("tools/list") },
      -32602,
    ],
    [
      { headers: { "mcp-protocol-version": "1" }, body: rpc("tools/list") },
      -32000,
    ],
  ];
  for (const [sent, code] of cases) {
    const { response, json } = await send(sent);
    assertEquals([response.status, json.error.code], [400, code]);
  }
});

Deno.test("Versions of any type and depth are answered", async () => {
  const version = { toString: 1, valueOf: 1 };
  const { json } = await send({
    body: rpc("initialize", { protocolVersion: version }),
  });
  assertEquals(json.result.protocolVersion, "2025-11-25");
  const deep = "[".repeat(15_000) + "]".repeat(15_000);
  const refused = await send({
    body: JSON.stringify(
      rpc("ping", { _meta: { [`${META}protocolVersion`]: 0 } }),
    )
      .replace(":0}", `:${deep}}`),
  });
  assertEquals(refused.response.status, 400);
  assertEquals(refused.json.error.code, -32022);
});

Deno.test("Bodies that aren't one message are refused", async () => {
  const cases: [unknown, number][] = [
    ["{", -32700],
    ["5", -32600],
    ["null", -32600],
    [[], -32600],
    [[rpc("ping"), rpc("ping", {}, 2)], -32600],
    [rpc("ping", {}, null), -32600],
    [rpc("ping", {}, 1.5), -32600],
    [{ ...rpc("ping"), jsonrpc: "1.0" }, -32600],
    [{ ...rpc("ping"), params: [] }, -32600],
    [{ jsonrpc: "2.0", id: 1 }, -32600],
  ];
  for (const [body, code] of cases) {
    const { response, json } = await send({ body });
    assertEquals([response.status, json.error.code], [400, code]);
    assertEquals(json.id, null);
  }
  const unknown = await send({ body: rpc("resources/list") });
  assertEquals([unknown.response.status, unknown.json.error.code], [
    200,
    -32601,
  ]);
  const tool = await send({ body: rpc("tools/call", { name: "__proto__" }) });
  assertEquals(tool.json.error.code, -32602);
  assertMatch(tool.json.error.message, /^name must be one of summary, /);
  // An answer to a request that this server never sends.
  const answer = await send({ body: { jsonrpc: "2.0", id: 1, result: {} } });
  assertEquals(answer.response.status, 202);
});

Deno.test("Only POST of JSON up to 64 KiB is taken", async () => {
  for (const method of ["GET", "DELETE", "PUT"]) {
    const { response } = await send({ method });
    assertEquals([response.status, response.headers.get("allow")], [
      405,
      "POST",
    ]);
  }
  const body = rpc("ping");
  const status = async (
    headers: Record<string, string>,
    sent: unknown = body,
  ) => (await send({ headers, body: sent })).response.status;
  assertEquals(await status({ "content-type": "text/plain" }), 415);
  assertEquals(await status({ accept: "text/html" }), 406);
  assertEquals(await status({ accept: "application/json" }), 200);
  assertEquals(await status({ accept: "*/*" }), 200);
  const large = rpc("ping", { text: "x".repeat(70_000) });
  assertEquals(await status({}, large), 413);
});

Deno.test("The route obeys the viewer's access rule", async () => {
  const { response, json } = await send({
    headers: { "x-stranger": "1" },
    body: rpc("ping"),
  });
  assertEquals([response.status, json.error.code], [403, "FORBIDDEN"]);

  await using folder = await makeFolder();
  await folder.write(
    "main.ts",
    'export default { fetch: () => new Response("x") };',
  );
  await using child = startDev(["main.ts", "--port", "0", "--trace"], folder);
  const url = new URL(PATH, await addressOf(child));
  await child.printed(/^Assistants {3}connect to (\S+) by MCP over HTTP$/m);
  assert(child.stdout.includes(` ${url} `));
  const post = (headers: Record<string, string>) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(rpc("ping")),
    });
  const local = await post({});
  assertEquals((await local.json()).result, {});
  for (
    const headers of [
      { origin: "http://evil.example" },
      { "x-forwarded-for": "192.0.2.1" },
    ]
  ) {
    const refused = await post(headers);
    assertEquals(refused.status, 403);
    await refused.body?.cancel();
  }
});
