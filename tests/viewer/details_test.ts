/**
 * Tests that the viewer recognizes the spans of the instrumentors. It knows
 * only the names of their attributes.
 */

import { assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import {
  createTracer,
  recordRouteMatch,
  serializeTrace,
  traceCacheOperation,
  tracedFetch,
  tracePlugin,
  traceQuery,
  traceRouteMatch,
  traceRPCCall,
  withSpan,
} from "@quartet/kit/trace";
import type { SpanData } from "@quartet/kit/trace";
import { startCaches } from "../../dev/cache/start.ts";
import { detailOf, statementOf } from "../../trace/export/attributes.ts";
import { curlCommand } from "../../viewer/model/curl.ts";

/** Returns the spans that `work` creates below its own. */
async function spansOf(work: () => unknown): Promise<readonly SpanData[]> {
  const tracer = createTracer();
  await tracer.withSpan("work", "custom", work);
  return serializeTrace(tracer.getTraces()[0]!).spans.slice(1);
}

async function detailsOf(work: () => unknown) {
  const spans = await spansOf(work);
  return spans.map((span) => [span.name, detailOf(span)]);
}

Deno.test("detailOf() returns a cache span's key", async () => {
  // As under the dev command. Otherwise only the last key is recorded.
  const caches = startCaches(createTracer());
  const cache = createCache();
  assertEquals(
    await detailsOf(() => cache.cached("country:fr", () => 1, { maxAge: 60 })),
    [["cache.get", "country:fr"]],
  );
  assertEquals(
    await detailsOf(() => traceCacheOperation("set", "country:de", () => {})),
    [["cache.set", "country:de"]],
  );
  caches.close();
  await cache.close();
});

Deno.test("detailOf() returns a database statement, and a route", async () => {
  const text = "SELECT name FROM country WHERE code = 'fr'";
  const query = () => traceQuery(text, () => []);
  assertEquals(await detailsOf(query), [["db.query", "SELECT country"]]);
  assertEquals(statementOf((await spansOf(query))[0]!), text);
  assertEquals(
    await detailsOf(() =>
      traceRouteMatch(() => recordRouteMatch("/countries/:code"))
    ),
    [["route.match", "/countries/:code"]],
  );
});

Deno.test("detailOf() doesn't repeat the span's name", async () => {
  const fetch = tracedFetch({ fetch: () => Promise.resolve(new Response()) });
  assertEquals(
    await detailsOf(async () => {
      traceRPCCall("posts.list", "query", () => []);
      await fetch("https://api.example.com/users/7");
      await fetch("https://api.example.com/users?page=2");
    }),
    [
      ["rpc:posts.list", undefined],
      ["fetch GET api.example.com/users/7", undefined],
      ["fetch GET api.example.com/users", "?page=2"],
    ],
  );
});

Deno.test("detailOf() returns how a subscription ended, and why a socket was opened again", async () => {
  const withAttributes = (attributes: Record<string, string | number>) =>
    detailsOf(() =>
      withSpan("rpc:prices", "rpc", (span) => {
        for (const [key, value] of Object.entries(attributes)) {
          span.setAttribute(key, value);
        }
      })
    );
  const end = "app.rpc.end";
  const code = "app.websocket.close_code";
  assertEquals(await withAttributes({ [end]: "session_ended" }), [
    ["rpc:prices", "session ended"],
  ]);
  assertEquals(await withAttributes({ [end]: "socket_closed", [code]: 1006 }), [
    ["rpc:prices", "closed with 1006"],
  ]);
  assertEquals(await withAttributes({ [code]: 1006 }), [
    ["rpc:prices", "after code 1006"],
  ]);
});

Deno.test("curlCommand() keeps a method that the conventions don't know", async () => {
  const tracer = createTracer();
  const app = createApp({ trace: tracePlugin(tracer) });
  const url = "http://localhost:8000/files";
  await app.fetch(new Request(url, { method: "PROPFIND" }));
  await app.close();
  const [root] = serializeTrace(tracer.getTraces()[0]!).spans;
  assertEquals(
    curlCommand(root!, "http://localhost:8000"),
    `curl --request PROPFIND --globoff --url "${url}"`,
  );
});
