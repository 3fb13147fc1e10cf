import { gunzip } from "./gunzip.ts";
import type { OTLPTraces } from "@quartet/kit/trace";

/** A request received by a {@linkcode FakeCollector}. */
export interface Received {
  readonly url: string;
  readonly headers: Headers;
  readonly body: OTLPTraces;
}

/** A local OTLP server with configurable responses. */
export class FakeCollector implements AsyncDisposable {
  /** Requests received so far. */
  readonly received: Received[] = [];
  /** The next responses. Afterwards it answers 200. */
  readonly answers: (() => Response | Promise<Response>)[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  #onRequest: (() => void) | undefined;

  constructor() {
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      (request) => this.#answer(request),
    );
  }

  /** Base URL, without a path. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Number of traces received, in all requests. */
  get traceCount(): number {
    return this.received.reduce(
      (count, { body }) => count + body.resourceSpans.length,
      0,
    );
  }

  /** Names of the first spans of all traces received, in order. */
  get traceNames(): string[] {
    return this.received.flatMap(({ body }) =>
      body.resourceSpans.map(({ scopeSpans }) => scopeSpans[0]!.spans[0]!.name)
    );
  }

  /** Waits until it has received this number of requests. */
  async requests(count: number): Promise<void> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => this.#onRequest = resolve);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const bytes = new Uint8Array(await request.arrayBuffer());
    const json = request.headers.get("content-encoding") === "gzip"
      ? await gunzip(bytes, 1e8)
      : bytes;
    this.received.push({
      url: request.url,
      headers: request.headers,
      body: JSON.parse(new TextDecoder().decode(json)),
    });
    const answer = this.answers.shift();
    this.#onRequest?.();
    return await answer?.() ?? Response.json({});
  }
}
