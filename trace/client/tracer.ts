import type { Layer } from "../types.ts";
import type { BrowserDocument } from "./browser.ts";
import { randomId } from "./clock.ts";
import { patchFetch } from "./fetch.ts";
import { findPageTrace, recordPageLoad } from "./page_load.ts";
import { createSender } from "./sender.ts";
import type { Sender } from "./sender.ts";
import { ClientSpan } from "./span.ts";
import type { ClientSpanOptions } from "./span.ts";

declare const document: BrowserDocument;

/** Settings of the tracing in a browser. */
export interface ClientTracingOptions {
  /**
   * Where the server takes spans: at `/ws` below this address, and at `/api`.
   * Default `/__app/traces`.
   */
  readonly endpoint?: string;
  /**
   * Other origins whose servers continue the page's traces, such as
   * `https://api.example.com`. They have to allow the header `traceparent` in
   * requests of other origins, and to expose `X-App-Trace-Id`. Default: none.
   */
  readonly origins?: readonly string[];
}

/** Records spans in a browser and sends them to the server. */
export class ClientTracer {
  #traceId: string | undefined;
  #sender: Sender | undefined;
  #stop: (() => void) | undefined;

  /**
   * Starts recording, in a page; elsewhere it never records anything. Use
   * {@linkcode initClientTracing}: one tracer is enough.
   */
  constructor(options: ClientTracingOptions = {}) {
    if (typeof document === "undefined") return;
    const { endpoint = "/__app/traces", origins = [] } = options;
    const sender = createSender(new URL(endpoint, location.origin).href);
    const traceId = findPageTrace();
    const stopping = new AbortController();
    const { signal } = stopping;

    const restoreFetch = patchFetch([location.origin, ...origins], sender);
    // On a phone, the page may not be told more than that it is hidden.
    for (const type of ["pagehide", "visibilitychange"]) {
      addEventListener(type, sender.flush, { signal });
    }
    this.#sender = sender;
    this.#traceId = traceId;
    this.#stop = () => {
      stopping.abort();
      restoreFetch();
      sender.flush();
    };
    if (traceId !== undefined) {
      sender.confirm();
      recordPageLoad(this, signal);
    }
  }

  /** How many spans were given up because too many waited to be sent. */
  get dropped(): number {
    return this.#sender?.dropped ?? 0;
  }

  /**
   * Opens a span in the trace of the page. It is recorded when it ends, and
   * only if the page's request was traced.
   *
   * @param name What is being done, such as `hydrate:Search`.
   * @param layer The part of the application that does it. Default `custom`.
   * @param options Values to begin with.
   */
  startSpan(
    name: string,
    layer?: Layer,
    options?: ClientSpanOptions,
  ): ClientSpan {
    const traceId = this.#traceId;
    const take = traceId === undefined ? () => {} : this.#sender!.add;
    // Without a parent it goes below the span of the page's request.
    return new ClientSpan(
      take,
      traceId ?? randomId(16),
      null,
      name,
      layer,
      options,
    );
  }

  /**
   * Runs `fn` with a new span, which ends when `fn` has returned or its promise
   * has settled. What it throws is recorded and thrown on.
   *
   * @returns What `fn` returns.
   */
  withSpan<T>(
    name: string,
    layer: Layer,
    fn: (span: ClientSpan) => T,
    options?: ClientSpanOptions,
  ): T {
    const span = this.startSpan(name, layer, options);
    const fail = (error: unknown) => {
      span.error(error);
      span.end();
      throw error;
    };
    try {
      const result = fn(span);
      if (result instanceof Promise) {
        return result.then((value) => {
          span.end();
          return value;
        }, fail) as T;
      }
      span.end();
      return result;
    } catch (error) {
      return fail(error);
    }
  }

  /** Puts the page's own `fetch` back, sends what is left and disconnects. */
  stop(): void {
    this.#stop?.();
  }
}
