import { assertEquals } from "@std/assert";
import { packTraces, unpackTraces } from "../../../trace/export/pack.ts";
import { factsOf, readFacts } from "../../../trace/export/trace_facts.ts";
import type { SerializedTrace, SpanData } from "../../../trace/types.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

let count = 0;

function span(change: Partial<SpanData>): SpanData {
  const number = ++count;
  return {
    id: number.toString(16).padStart(16, "0"),
    traceId: TRACE,
    parentId: null,
    name: "work",
    layer: "custom",
    status: "ok",
    startTime: number,
    endTime: number + 10,
    duration: 10,
    attributes: {},
    events: [],
    children: [],
    ...change,
  };
}

function request(
  path: string,
  status: number,
  change: Partial<SpanData> = {},
): SpanData {
  return span({
    layer: "request",
    name: `GET ${path}`,
    ...change,
    attributes: {
      "http.request.method": "GET",
      "url.path": path,
      "http.response.status_code": status,
      ...change.attributes,
    },
  });
}

const CLIENT = { "app.origin": "client" };

function traceOf(...spans: SpanData[]): SerializedTrace {
  const [root] = spans;
  return {
    id: root!.traceId,
    rootSpanId: root!.id,
    startTime: root!.startTime,
    endTime: root!.endTime,
    duration: root!.duration,
    spans,
    metadata: { origin: "server" },
  };
}

Deno.test("factsOf() returns nothing for a lone request", () => {
  const root = request("/", 200);
  const query = span({ parentId: root.id, layer: "database" });
  assertEquals(factsOf(traceOf(root, query)), {});
});

Deno.test("factsOf() summarizes the requests below a page", () => {
  const page = span({ attributes: { ...CLIENT, "app.action": "load" } });
  const own = request("/countries/fra", 200, {
    parentId: page.id,
    attributes: { "http.route": "/countries/:code" },
  });
  const fetched = request("/api/rpc", 200, {
    parentId: page.id,
    attributes: CLIENT,
  });
  const call = request("/api/rpc", 200, {
    parentId: fetched.id,
    attributes: { "http.route": "/api/rpc/notes.add" },
  });
  const failed = span({ parentId: call.id, status: "error" });
  const image = request("/logo.svg", 0, {
    parentId: page.id,
    attributes: CLIENT,
  });
  const sent = request("/", 200, {
    parentId: call.id,
    attributes: { "url.full": "https://other.example/" },
  });
  const { "url.path": _, ...attributes } = sent.attributes;
  const { action, requests } = factsOf(
    traceOf(page, own, fetched, call, failed, image, { ...sent, attributes }),
  );
  assertEquals(action, "load");
  assertEquals(
    requests?.map(({ path, route, statusCode, failed }) =>
      [path, route, statusCode, failed] as const
    ),
    [
      ["/countries/fra", "/countries/:code", 200, false],
      ["/api/rpc/notes.add", "/api/rpc/notes.add", 200, true],
      ["/logo.svg", "", 0, false],
    ],
  );
});

Deno.test("factsOf() counts the most frequent statement", () => {
  const root = request("/", 200);
  const query = (id: number) =>
    span({
      parentId: root.id,
      layer: "database",
      attributes: { "db.query.text": `SELECT * FROM country WHERE id = ${id}` },
    });
  const queries = Array.from({ length: 6 }, (_, i) => query(i));
  assertEquals(factsOf(traceOf(root, ...queries)), { repeats: 6 });
  assertEquals(factsOf(traceOf(root, ...queries.slice(2))), {});
});

Deno.test("factsOf() returns linked traces and running spans", () => {
  const linked = "0af7651916cd43dd8448eb211c80319c";
  const root = span({
    attributes: { "app.link": `00-${linked}-00f067aa0ba902b7-01` },
  });
  const running = span({ traceId: "b", attributes: { "app.open": true } });
  assertEquals(factsOf(traceOf(root, running)), {
    linkedIds: [linked, "b"],
    running: 1,
  });
});

Deno.test("factsOf() ends at a cycle of parents", () => {
  const [a, b] = [span({}), span({})];
  const trace = traceOf(
    { ...a, parentId: b.id, status: "error" },
    { ...b, parentId: a.id },
    request("/", 200),
  );
  assertEquals(factsOf(trace).requests?.[0]?.failed, false);
});

Deno.test("Packed traces keep their facts", async () => {
  const page = span({ attributes: { ...CLIENT, "app.action": "click" } });
  const trace = traceOf(page, request("/a", 500, { parentId: page.id }));
  const { index } = await unpackTraces(await packTraces([trace]));
  assertEquals(index[0]!.action, "click");
  assertEquals(index[0]!.requests, factsOf(trace).requests);
});

Deno.test("readFacts() leaves out what isn't a fact", () => {
  for (
    const value of [
      undefined,
      null,
      "text",
      [],
      { action: 1, linkedIds: [2], requests: [{}], repeats: "3", running: 0.5 },
      { requests: [{ method: "GET", path: "/", route: "", statusCode: 200 }] },
    ]
  ) assertEquals(readFacts(value), {});
});
