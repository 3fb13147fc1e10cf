import { assert, assertEquals } from "@std/assert";
import { presetCodeHost } from "@quartet/kit/auth";
import {
  createOTLPExporter,
  createTracer,
  type SpanData,
  tracedFetch,
  type Tracer,
} from "@quartet/kit/trace";
import { startFetch } from "../../dev/fetch/start.ts";
import { signIn, startProvider } from "../auth/oauth_setup.ts";

/** Replaces the global `fetch` until the end of the test. */
function patched(): Disposable {
  return { [Symbol.dispose]: startFetch().close };
}

/** Starts a server that answers with the headers that it received. */
function startEcho() {
  const paths: string[] = [];
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    ({ url, headers }) => {
      paths.push(new URL(url).pathname);
      return Response.json(Object.fromEntries(headers), {
        status: url.endsWith("/gone") ? 410 : 200,
      });
    },
  );
  const host = `127.0.0.1:${server.addr.port}`;
  return {
    host,
    paths,
    url: `http://${host}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Returns the spans of all requests that were sent. */
function fetches(tracer: Tracer): SpanData[] {
  return tracer.getTraces().flatMap(({ spans }) => [...spans.values()])
    .filter(({ name }) => /^fetch [A-Z]/.test(name));
}

Deno.test("Plain fetch inside a request is a span with a redacted URL, and sends no trace", async () => {
  await using echo = startEcho();
  const original = globalThis.fetch;
  const tracer = createTracer();
  {
    using _ = patched();
    assertEquals([fetch.name, fetch.length], [original.name, original.length]);
    const { url } = echo;
    const headers = await tracer.withSpan("fetch users", "custom", async () => {
      const response = await fetch(`${url}/users/7?token=abc&page=2#top`);
      const { status, body } = await fetch(new Request(`${url}/gone`), {
        method: "delete",
      });
      await body?.cancel();
      assertEquals(status, 410);
      await (await fetch("data:text/plain,hello")).text();
      return await response.json();
    });
    assertEquals("traceparent" in headers, false);
    await (await fetch(`${url}/outside`)).text();
  }
  assertEquals(globalThis.fetch, original);
  const { host } = echo;
  const [found, gone, ...others] = fetches(tracer);
  assertEquals(others, []);
  assertEquals(found!.name, `fetch GET ${host}/users/7`);
  assertEquals(
    found!.attributes["url.full"],
    `http://${host}/users/7?token=REDACTED&page=2`,
  );
  assertEquals(found!.attributes["http.response.status_code"], 200);
  assertEquals(gone!.attributes["http.request.method"], "DELETE");
  assertEquals(gone!.status, "error");
});

Deno.test("A request of tracedFetch(), of an OAuth provider or of an exporter isn't recorded twice", async () => {
  await using echo = startEcho();
  await using provider = startProvider();
  using _ = patched();
  const tracer = createTracer();
  const ownFetch = tracedFetch();
  await tracer.withSpan("job", "custom", async () => {
    await (await ownFetch(`${echo.url}/${"long".repeat(99)}`)).text();
  });
  assertEquals(fetches(tracer).length, 1);

  for (const options of [{}, { fetch: tracedFetch() }]) {
    const signInTracer = createTracer();
    await signInTracer.withSpan(
      "job",
      "custom",
      () => signIn(presetCodeHost({ ...provider.github, ...options }), "ada"),
    );
    const layers = Map.groupBy(fetches(signInTracer), ({ layer }) => layer);
    // The user's clicks are requests of the test.
    assertEquals(layers.get("request")!.length, 2);
    assert(layers.get("auth")!.length >= 2);
  }

  const exported = createTracer();
  await using exporter = createOTLPExporter({ url: `${echo.url}/v1/traces` });
  exporter.attach(exported);
  await exported.withSpan("job", "custom", async () => {
    await exported.withSpan("inner", "custom", () => Promise.resolve());
    exported.startTrace("other").end();
    await exporter.flush();
  });
  assert(echo.paths.includes("/v1/traces"));
  assertEquals(fetches(exported), []);
});
