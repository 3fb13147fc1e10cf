import {
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import {
  createTracer,
  createViewerHandler,
  exportTracesHTML,
  generateViewerHTML,
  serializeTrace,
} from "@quartet/kit/trace";

const ADDRESS = "http://localhost/__app/traces";

Deno.test("createViewerHandler() returns the page for GET, its headers for HEAD, and rejects other methods", async () => {
  const handler = createViewerHandler({ authorize: () => true });
  const ask = (method: string) => handler(new Request(ADDRESS, { method }));
  const page = await ask("GET");
  assertEquals(page.status, 200);
  assertMatch(await page.text(), /^<!DOCTYPE html>/);
  const head = await ask("HEAD");
  assertEquals([head.status, await head.text()], [200, ""]);
  assertEquals([...head.headers], [...page.headers]);
  assertEquals(head.headers.get("cache-control"), "no-store");
  // Only the dev command's panel frames it.
  assertMatch(
    head.headers.get("content-security-policy")!,
    /; frame-ancestors 'none'$/,
  );
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
    const refused = await ask(method);
    assertEquals([refused.status, refused.headers.get("allow")], [
      405,
      "GET, HEAD",
    ]);
    assertEquals((await refused.json()).error, {
      code: "METHOD_NOT_ALLOWED",
      message: `The viewer allows GET and HEAD, not ${method}`,
    });
  }
});

Deno.test("createViewerHandler() checks access before anything else", async () => {
  const handler = createViewerHandler({ authorize: () => false });
  for (const method of ["GET", "HEAD", "POST"]) {
    const { status } = await handler(new Request(ADDRESS, { method }));
    assertEquals(status, 403);
  }
});

Deno.test("exportTracesHTML() exports a tracer's traces, or those in an array", async () => {
  const tracer = createTracer();
  tracer.withSpan("first", "custom", () => {});
  tracer.withSpan("second", "custom", () => {});
  const traces = tracer.getTraces();
  const [trace] = traces;
  const all = await exportTracesHTML(tracer);
  const one = await exportTracesHTML([trace!]);
  assertEquals(all, await generateViewerHTML(traces));
  assertEquals(one, await generateViewerHTML([trace!]));
  assertNotEquals(one, all);
});

Deno.test("exportTracesHTML() and generateViewerHTML() reject anything else", async () => {
  const tracer = createTracer();
  tracer.withSpan("first", "custom", () => {});
  const [trace] = tracer.getTraces();
  for (
    const [wrong, received] of [
      [undefined, "undefined"],
      [trace, "an object"],
      [[serializeTrace(trace!)], "an array"],
      [[null], "an array"],
    ] as const
  ) {
    const message =
      `Cannot export traces: traces must be the result of createTracer(), or an array of its traces, received ${received}`;
    for (const make of [exportTracesHTML, generateViewerHTML]) {
      // Without traces, generateViewerHTML() returns the page of a server.
      if (wrong === undefined && make === generateViewerHTML) continue;
      await assertRejects(() => make(wrong as never), TypeError, message);
    }
  }
});
