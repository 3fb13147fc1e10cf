import type { Layer } from "../types.ts";
import type { BrowserDocument } from "./browser.ts";
import { randomId } from "./clock.ts";
import { patchFetch } from "./fetch.ts";
import { findPageTrace, recordPageLoad } from "./page_load.ts";
import { createSender, type Sender } from "./sender.ts";
import { ClientSpan, type ClientSpanOptions, type TakeSpan } from "./span.ts";

declare const document: BrowserDocument;

/** Options of tracing in a browser. */
export interface ClientTracingOptions {
  /**
   * The URL of the server's traces. Spans go to `/ws` and `/api` below it.
   * Default: `/__app/traces`.
   */
  readonly endpoint?: string;
  /**
   * Other origins whose servers continue the page's traces, such as
   * `https://api.example.com`. Their CORS rules must allow the header
   * `traceparent` and expose `X-App-Trace-Id`. Default: none.
   */
  readonly trustedOrigins?: readonly string[];
}

/** Records spans in a browser and sends them to the server. */
export class ClientTracer {
  #traceId: string = randomId(16);
  #take: TakeSpan | undefined;
  #sender: Sender | undefined;
  #restoreFetch: (() => void) | undefined;

  /**
   * Starts recording in a page. Outside a page, it records nothing. Call
   * {@linkcode initClientTracing} instead: a page needs one tracer.
   *
   * @throws {TypeError} If an option is unknown.
   */
  constructor(options: ClientTracingOptions = {}) {
    const { endpoint = "/__app/traces", trustedOrigins = [], ...unknown } =
      options;
    for (const name in unknown) {
      throw new TypeError(
        `Cannot trace page: unknown option "${name}". Known options: endpoint, trustedOrigins`,
      );
    }
    if (typeof document === "undefined") return;
    const sender = createSender(new URL(endpoint, location.origin).href);
    const traceId = findPageTrace();
    this.#sender = sender;
    this.#restoreFetch = patchFetch(
      [location.origin, ...trustedOrigins],
      sender,
    );
    // On a phone, this may be the last event of the page.
    for (const type of ["pagehide", "visibilitychange"]) {
      addEventListener(type, sender.flush);
    }
    if (traceId) {
      this.#traceId = traceId;
      this.#take = sender.add;
      sender.confirm();
      recordPageLoad(this);
    }
  }

  /** The number of spans that were dropped because too many were waiting. */
  get dropped(): number {
    return this.#sender?.dropped ?? 0;
  }

  /**
   * Opens a span in the trace of the page. It is recorded when it ends, and
   * only if the page's request was traced.
   *
   * @param name The name, such as `hydrate:Search`.
   * @param layer The part of the application. Default: `custom`.
   * @param options The start, the parent and the first attributes.
   */
  startSpan(
    name: string,
    layer?: Layer,
    options?: ClientSpanOptions,
  ): ClientSpan {
    // The default parent is the span of the page's request.
    return new ClientSpan(
      this.#take,
      this.#traceId,
      null,
      name,
      layer,
      options,
    );
  }

  /**
   * Runs `fn` with a new span. The span ends when `fn` returns or its promise
   * settles. Errors are recorded and thrown on.
   *
   * @returns The result of `fn`.
   */
  withSpan<T>(
    name: string,
    layer: Layer,
    fn: (span: ClientSpan) => T,
    options?: ClientSpanOptions,
  ): T {
    const span = this.startSpan(name, layer, options);
    const end = <V>(value: V): V => {
      span.end();
      return value;
    };
    const fail = (error: unknown): never => {
      span.error(error);
      throw end(error);
    };
    try {
      const result = fn(span);
      return result instanceof Promise
        ? result.then(end, fail) as T
        : end(result);
    } catch (error) {
      return fail(error);
    }
  }

  /**
   * Restores the page's own `fetch`, sends the remaining spans, and
   * disconnects. Nothing is recorded after that.
   */
  close(): void {
    this.#restoreFetch?.();
    this.#sender?.close();
  }
}
