import { assertEquals, assertLessOrEqual, assertMatch } from "@std/assert";
import {
  ClientSpan,
  ClientTracer,
  getClientTracer,
  initClientTracing,
} from "@quartet/kit/trace/client";
import * as client from "@quartet/kit/trace/client";
import { buildSync } from "esbuild";
import { ROOT } from "../helpers.ts";

Deno.test("The client exports only what a page needs", () => {
  assertEquals(Object.keys(client).sort(), [
    "ClientSpan",
    "ClientTracer",
    "getClientTracer",
    "initClientTracing",
  ]);
});

// The bundler's first run opens a port that stays open, so not within a test.
buildSync({ stdin: { contents: "" }, write: false });

Deno.test("The client has at most 4 KB, minified and compressed", async () => {
  const { outputFiles, metafile } = buildSync({
    stdin: {
      contents: `
        import { initClientTracing } from "./trace/client.ts";
        initClientTracing();
      `,
      resolveDir: ROOT.pathname,
    },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "iife",
    target: ["chrome123", "firefox121", "safari17.5"],
    tsconfigRaw: {},
  });
  const foreign = Object.keys(metafile.inputs)
    .filter((path) => !/(^|\/)trace\/client[./]|^<stdin>$/.test(path));
  assertEquals(foreign, [], "nothing else of the kit");
  const stream = new Blob([outputFiles[0]!.contents as Uint8Array<ArrayBuffer>])
    .stream().pipeThrough(new CompressionStream("gzip"));
  const { byteLength } = await new Response(stream).arrayBuffer();
  assertLessOrEqual(byteLength, 4_096);
});

Deno.test("Outside a page, the client does nothing", async () => {
  const { fetch } = globalThis;
  assertEquals(getClientTracer(), undefined);
  const tracer = initClientTracing({
    endpoint: "/elsewhere",
    trustedOrigins: [],
  });
  assertEquals(globalThis.fetch, fetch);
  assertEquals(tracer instanceof ClientTracer, true);
  assertEquals(initClientTracing(), tracer);
  assertEquals(getClientTracer(), tracer);

  const span = tracer.startSpan("name", "islands", { attributes: { a: 1 } });
  assertEquals(span instanceof ClientSpan, true);
  assertMatch(span.id, /^[0-9a-f]{16}$/);
  assertMatch(span.traceId, /^[0-9a-f]{32}$/);
  const child = span.child("child");
  assertEquals(child.traceId, span.traceId);
  child.setAttribute("key", "value");
  child.event("event", { a: true });
  child.error(new Error("told"));
  child.end();
  child.end();
  span.error();
  span.end();

  assertEquals(tracer.withSpan("sync", "custom", () => 1), 1);
  assertEquals(
    await tracer.withSpan("async", "custom", () => Promise.resolve(2)),
    2,
  );
  assertEquals(tracer.dropped, 0);
  tracer.close();
  assertEquals(globalThis.fetch, fetch);
});

Deno.test("withSpan() rethrows errors, sync and async", async () => {
  const tracer = new ClientTracer();
  const reasons: unknown[] = [
    new Error("an error"),
    "a text",
    undefined,
    null,
    Symbol("a symbol"),
    Object.create(null),
    {
      get message() {
        throw new Error("its message can't be read");
      },
    },
  ];
  for (const reason of reasons) {
    const outcomes: unknown[] = [];
    try {
      tracer.withSpan("sync", "custom", () => {
        throw reason;
      });
    } catch (error) {
      outcomes.push(error);
    }
    await tracer.withSpan("async", "custom", () => Promise.reject(reason))
      .catch((error: unknown) => outcomes.push(error));
    assertEquals(outcomes, [reason, reason]);
  }
});
