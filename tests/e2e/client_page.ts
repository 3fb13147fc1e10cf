/**
 * A traced app whose page exposes the client of tracing as `window.kit`.
 *
 * @module
 */

import { createApp, serve } from "@quartet/kit/app";
import type { Route } from "@quartet/kit/app";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import type {
  ClientSpanData,
  SpanData,
  TraceData,
  Tracer,
} from "@quartet/kit/trace";
import * as esbuild from "esbuild";
import { type TestPage, TIMEOUT } from "./browser.ts";
import { ROOT } from "../helpers.ts";

/** Bundles a module that imports the client, as for a page. */
export async function bundle(source: string): Promise<string> {
  const { outputFiles } = await esbuild.build({
    stdin: {
      contents: source.replaceAll(
        "@quartet/kit/trace/client",
        new URL("trace/client.ts", ROOT).pathname,
      ),
      resolveDir: ROOT.pathname,
    },
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    tsconfigRaw: {},
  });
  await esbuild.stop();
  return outputFiles[0]!.text;
}

/** Exposes the whole client, and starts it except with `?manual`. */
const SCRIPT = `
  import * as kit from "@quartet/kit/trace/client";
  window.kit = kit;
  window.nativeFetch = fetch;
  if (!location.search.includes("manual")) kit.initClientTracing();
`;
let script: Promise<string> | undefined;

/** A span that a page has sent. */
export interface SentSpan extends ClientSpanData {
  readonly traceId: string;
}

/** A server of the page. Disposing it stops it. */
export interface ClientApp extends AsyncDisposable {
  /** Its origin. */
  readonly url: string;
  readonly tracer: Tracer;
  /** The spans that pages have sent, in order. */
  readonly sent: readonly SentSpan[];
  /** All requests received, including those that open sockets, in order. */
  readonly requests: readonly Request[];
}

export interface ClientAppOptions {
  readonly port?: number;
  /** Whether it traces requests. Default: `true`. */
  readonly traced?: boolean;
  readonly tracer?: Tracer;
  /** Whether the page may read and send traces. Default: `true`. */
  readonly open?: boolean;
  readonly head?: string;
  readonly routes?: readonly Route[];
}

export async function startClientApp(
  options: ClientAppOptions = {},
): Promise<ClientApp> {
  const { port = 0, traced = true, open = true, head = "" } = options;
  const tracer = options.tracer ?? createTracer();
  const code = await (script ??= bundle(SCRIPT));
  const requests: Request[] = [];
  const sent = collectSent(tracer);
  const app = createApp({
    ...traced && {
      trace: tracePlugin(tracer, open ? {} : { authorize: () => false }),
    },
    routes: [
      ...options.routes ?? [],
      { path: "/", handler: () => page(head) },
      {
        path: "/script.js",
        handler: () =>
          new Response(code, {
            headers: { "content-type": "text/javascript" },
          }),
      },
      {
        path: "/echo",
        method: "*",
        handler: async (request) =>
          Response.json({
            method: request.method,
            headers: Object.fromEntries(request.headers),
            body: await request.text(),
          }),
      },
    ],
  });
  const server = serve({
    fetch(request, info) {
      requests.push(new Request(request.url, { headers: request.headers }));
      return app.fetch(request, info);
    },
    close: () => app.close(),
  }, { port, signals: false, onListen: () => {} });
  return {
    url: `http://127.0.0.1:${server.address.port}`,
    tracer,
    sent,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Collects the spans that pages send to a tracer. */
export function collectSent(tracer: Tracer): SentSpan[] {
  const sent: SentSpan[] = [];
  const { mergeClientSpans } = tracer;
  tracer.mergeClientSpans = (traceId, spans) => {
    for (const span of spans) sent.push({ ...span, traceId });
    return mergeClientSpans.call(tracer, traceId, spans);
  };
  return sent;
}

/** Waits for a span of a page that has ended. The last one counts. */
export function sentSpan(
  { sent }: Pick<ClientApp, "sent">,
  name: string,
): Promise<SentSpan> {
  return until(
    `${name} from the page`,
    () =>
      sent.findLast((span) =>
        span.name === name && span.attributes["app.open"] !== true
      ),
  );
}

function page(head: string): Response {
  return new Response(
    `<!DOCTYPE html><html lang="en"><head><link rel="icon" href="data:,">${head}<script src="/script.js"></script></head><body>Hello</body></html>`,
    { headers: { "content-type": "text/html; charset=utf-8" } },
  );
}

/** Runs code in the page, where `kit` is the client. */
export function run<T>({ page }: TestPage, code: string): Promise<T> {
  return page.evaluate<T>(`(async () => { ${code} })()`);
}

/** Waits until `look` returns something. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false,
): Promise<T> {
  const end = performance.now() + TIMEOUT;
  for (;;) {
    const found = look();
    if (found) return found;
    if (performance.now() > end) {
      throw new Error(`Timed out waiting for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Waits for a trace with a span of this name, and returns both. */
export function traceWith(
  tracer: Tracer,
  name: string,
): Promise<{ trace: TraceData; span: SpanData }> {
  return until(`a span ${name}`, () => {
    for (const trace of tracer.getTraces()) {
      const span = trace.spans.values().find((span) => span.name === name);
      if (span !== undefined) return { trace, span };
    }
  });
}
