/**
 * Two processes under the dev command. One sends its traces to the other one.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { SerializedTrace } from "@quartet/kit/trace";
import { freePort } from "../helpers.ts";
import {
  otlpSpan,
  requestWith,
  TRACE_ID,
} from "../trace/live/otlp_requests.ts";
import { addressOf, type Folder, makeFolder, startDev } from "./dev_command.ts";

const APP = `export default { fetch: () => new Response("packed") };`;

async function folderWithApps(): Promise<Folder> {
  const folder = await makeFolder();
  await folder.write("shop.ts", APP);
  await folder.write("stock.ts", `globalThis.fetch = undefined; ${APP}`);
  return folder;
}

/** Waits until the viewer at an address has a trace, and returns it. */
async function traceAt(url: URL, path: string): Promise<SerializedTrace> {
  for (;;) {
    const traces = await tracesAt(url);
    const found = traces.find(({ metadata }) => metadata.pathname === path);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function tracesAt(url: URL): Promise<SerializedTrace[]> {
  const response = await fetch(new URL("/__app/traces/api", url));
  return (await response.json()).traces;
}

async function visit(url: URL, path: string): Promise<string> {
  const response = await fetch(new URL(path, url));
  assertEquals(await response.text(), "packed");
  return response.headers.get("x-app-trace-id")!;
}

Deno.test("dev --trace names the variable for other services, and --to the viewer that gets the traces", async () => {
  await using folder = await folderWithApps();
  const trace = ["--port", "0", "--trace"];
  await using shop = startDev(["shop.ts", ...trace], folder);
  const url = await addressOf(shop);
  await shop.printed(
    new RegExp(
      `^Services set OTEL_EXPORTER_OTLP_ENDPOINT=${url}__app/traces/otlp$`,
      "m",
    ),
  );
  await using stock = startDev(
    ["stock.ts", ...trace, "--to", url.origin],
    folder,
  );
  const other = await addressOf(stock);
  await stock.printed(new RegExp(`^Traces go to ${url}__app/traces$`, "m"));
  assert(!stock.stdout.includes("OTEL_"));

  const id = await visit(other, "/pack");
  const received = await traceAt(url, "/pack");
  assertEquals(received.id, id);
  const service = received.spans[0]!.attributes["service.name"];
  assertEquals(service, "stock");
  // Its own viewer has it, too.
  assertEquals((await traceAt(other, "/pack")).id, id);
});

Deno.test("dev --to sends the spans that its pages post, but no spans of other services", async () => {
  await using folder = await folderWithApps();
  const trace = ["--port", "0", "--trace"];
  await using shop = startDev(["shop.ts", ...trace], folder);
  const url = await addressOf(shop);
  await using stock = startDev(
    ["stock.ts", ...trace, "--to", url.origin],
    folder,
  );
  const other = await addressOf(stock);
  await fetch(new URL("/__app/traces/otlp/v1/traces", other), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(requestWith(otlpSpan())),
  }).then((response) => response.body?.cancel());
  const traceId = await visit(other, "/first");
  const posted = await fetch(new URL("/__app/traces/api", other), {
    method: "POST",
    body: JSON.stringify({
      type: "client:spans",
      traceId,
      spans: [{
        id: "00f067aa0ba902b9",
        name: "hydrate:Cart",
        layer: "islands",
        startTime: Date.now(),
        endTime: Date.now() + 5,
      }],
    }),
  });
  assertEquals((await posted.json()).added, 1);
  await visit(other, "/last");
  await traceAt(url, "/last");
  const traces = await tracesAt(url);
  assert(!traces.some(({ id }) => id === TRACE_ID));
  const page = traces.find(({ id }) => id === traceId)!;
  assertEquals(page.spans.map(({ name }) => name).sort(), [
    "GET /first",
    "hydrate:Cart",
  ]);
  const span = page.spans.find(({ id }) => id === "00f067aa0ba902b9");
  assertEquals(span!.attributes["app.origin"], "client");
});

Deno.test("dev --to answers requests while the other process is away, warns once, and sends the traces later", async () => {
  await using folder = await folderWithApps();
  const port = freePort();
  const to = `http://127.0.0.1:${port}`;
  await using stock = startDev(
    ["stock.ts", "--port", "0", "--trace", "--to", to],
    folder,
  );
  const other = await addressOf(stock);
  await visit(other, "/early");
  await stock.printed(/GET \/early/);
  while (stock.stderr === "") {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await visit(other, "/early-too");
  await using shop = startDev(
    ["shop.ts", "--port", `${port}`, "--trace"],
    folder,
  );
  const url = await addressOf(shop);
  await traceAt(url, "/early");
  await traceAt(url, "/early-too");
  assertMatch(
    stock.stderr,
    /^Cannot export traces to http:\/\/127\.0\.0\.1:\d+: .*Is dev --trace running there\?\n$/,
  );
});

Deno.test("dev --to exits in time if the other process is away", async () => {
  await using folder = await folderWithApps();
  const to = `http://127.0.0.1:${freePort()}`;
  await using stock = startDev(
    ["stock.ts", "--port", "0", "--trace", "--to", to],
    folder,
  );
  await visit(await addressOf(stock), "/pack");
  stock.kill("SIGTERM");
  assertEquals(await stock.code, 0);
});

Deno.test("dev --to leaves the default port to the other process", async () => {
  await using folder = await folderWithApps();
  await using stock = startDev(
    ["stock.ts", "--trace", "--to", "http://localhost:8000"],
    folder,
  );
  const { port } = await addressOf(stock);
  assert(Number(port) > 8000, port);
});
