/**
 * Three processes in one trace: the kit under the dev command, Node with
 * OpenTelemetry's SDK from npm, and Deno with its own OpenTelemetry.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { SerializedTrace, SpanData } from "@quartet/kit/trace";
import { addressOf, makeFolder, startDev } from "../dev/dev_command.ts";
import { type Child, ROOT, startDeno, startProgram } from "../helpers.ts";

const PACKAGES = {
  "@opentelemetry/api": "1.10.0",
  "@opentelemetry/instrumentation-http": "0.301.0",
  "@opentelemetry/instrumentation-undici": "0.34.0",
  "@opentelemetry/sdk-node": "0.301.0",
};

const folder = await Deno.makeTempDir();

/** Whether Node is installed, and npm has the SDK for it. */
async function canRunStock(): Promise<boolean> {
  const manifest = JSON.stringify({ dependencies: PACKAGES });
  await Deno.writeTextFile(`${folder}/package.json`, manifest);
  await Deno.copyFile(
    new URL("services/stock.cjs", import.meta.url),
    `${folder}/stock.cjs`,
  );
  try {
    await using node = startProgram("node", ["--version"], folder);
    const install = ["install", "--quiet", "--node-modules-dir=auto"];
    await using installed = startDeno(install, folder);
    return await node.code === 0 && await installed.code === 0;
  } catch {
    return false;
  }
}

/** Returns the address of a service that prints its port. */
async function portOf(child: Child): Promise<string> {
  const [, port] = await child.printed(/^(\d+)\n/);
  return `http://127.0.0.1:${port}`;
}

/** Listens to the viewer's stream until a trace has what is wanted. */
async function liveTrace(
  url: URL,
  isWanted: (trace: SerializedTrace) => boolean,
): Promise<SerializedTrace> {
  const socket = new WebSocket(new URL("/__app/traces/ws", url));
  const found = Promise.withResolvers<SerializedTrace>();
  socket.onmessage = ({ data }) => {
    const { trace } = JSON.parse(data);
    if (trace !== undefined && isWanted(trace)) found.resolve(trace);
  };
  const closed = new Promise((resolve) => socket.onclose = resolve);
  const trace = await found.promise;
  socket.close();
  await closed;
  return trace;
}

/** Returns the services and names of the spans from one to the root. */
function pathOf(trace: SerializedTrace, span: SpanData): string[] {
  const spans = new Map(trace.spans.map((span) => [span.id, span]));
  const path: string[] = [];
  for (
    let each: SpanData | undefined = span;
    each !== undefined;
    each = spans.get(each.parentId ?? "")
  ) {
    const service = each.attributes["service.name"] ?? "shop";
    path.unshift(`${service}: ${each.name.replace(/\d{4,5}/, "…")}`);
  }
  return path;
}

/** The last span of the request, if the trace has all three services. */
function lastSpan({ spans }: SerializedTrace): SpanData | undefined {
  const has = (name: string) =>
    spans.some(({ attributes }) => attributes["service.name"] === name);
  const last = spans.find(({ attributes, events }) =>
    attributes["service.name"] === "warehouse" &&
    events.some(({ name }) => name === "log")
  );
  const isLogged = spans.some(({ attributes, events }) =>
    attributes["service.name"] === "stock" &&
    events.some(({ name }) => name === "log")
  );
  return has("stock") && isLogged ? last : undefined;
}

const isRunnable = await canRunStock();

for (const protocol of ["http/protobuf", "http/json"]) {
  Deno.test({
    name:
      `The kit, Node with OpenTelemetry and Deno with OTEL_DENO form one live trace, over ${protocol}`,
    ignore: !isRunnable,
    async fn() {
      // In a folder of its own, where it keeps its traces.
      await using shopFolder = await makeFolder();
      const { pathname } = new URL("services/shop.ts", import.meta.url);
      await using shop = startDev(
        [pathname, "--trace", "--port", "0"],
        shopFolder,
      );
      const url = await addressOf(shop);
      const [, endpoint] = await shop.printed(
        /OTEL_EXPORTER_OTLP_ENDPOINT=(\S+)\n/,
      );
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint!,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_LOGS_EXPORTER: "otlp",
        OTEL_BSP_SCHEDULE_DELAY: "100",
        OTEL_BLRP_SCHEDULE_DELAY: "100",
        NODE_ENV: "development",
      };
      await using warehouse = startDeno(
        ["run", "--allow-net", "tests/combined/services/warehouse.ts"],
        ROOT,
        { env: { ...env, OTEL_DENO: "true", OTEL_SERVICE_NAME: "warehouse" } },
      );
      const WAREHOUSE = await portOf(warehouse);
      await using stock = startProgram("node", ["stock.cjs"], folder, {
        env: {
          ...env,
          WAREHOUSE,
          OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
          OTEL_SERVICE_NAME: "stock",
        },
      });
      const live = liveTrace(url, (trace) => lastSpan(trace) !== undefined);

      const page = new URL(`/?stock=${await portOf(stock)}`, url);
      const response = await fetch(page);
      assertEquals(await response.text(), "tea");
      const id = response.headers.get("x-app-trace-id");

      const trace = await live;
      assertEquals(trace.id, id);
      const path = pathOf(trace, lastSpan(trace)!);
      assertEquals(path, [
        "shop: GET /",
        "shop: fetch GET 127.0.0.1:…/stock/tea",
        "stock: GET",
        "stock: GET",
        "warehouse: GET",
      ]);
      const api = await fetch(new URL(`/__app/traces/api?id=${id}`, url));
      const stored: SerializedTrace = await api.json();
      assertEquals(pathOf(stored, lastSpan(stored)!), path);
      assertEquals(shop.stderr, "");
      // Exports of the services make no traces of their own.
      const all = await (await fetch(new URL("/__app/traces/api", url))).json();
      const ids = all.traces.map(({ id }: SerializedTrace) => id);
      assert(ids.includes(id) && ids.length === 1, JSON.stringify(ids));
    },
  });
}

Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));
