import type { Layer } from "../types.ts";
import type { BrowserDocument } from "./browser.ts";
import { now } from "./clock.ts";
import { patchFetch } from "./fetch.ts";
import { watchTimeline } from "./observe.ts";
import { findPageTrace, recordPageLoad } from "./page_load.ts";
import { createRequests } from "./requests.ts";
import { recordResources } from "./resources.ts";
import { createRoots, createTrace, openSpan, type Roots } from "./roots.ts";
import { createSender, type Sender } from "./sender.ts";
import type { ClientSpan, ClientSpanOptions } from "./span.ts";
import { followUser } from "./user.ts";
import { recordVitals } from "./vitals.ts";
import { patchWebSocket } from "./websocket.ts";
import { patchXHR } from "./xhr.ts";

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
  readonly #end = new AbortController();
  #roots: Roots | undefined;
  #sender: Sender | undefined;

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
    const url = new URL(endpoint, location.origin).href;
    const sender = this.#sender = createSender(url);
    const roots = this.#roots = createRoots(sender);
    const { signal } = this.#end;
    const [observe, drain] = watchTimeline(signal);
    const [id, link] = findPageTrace();
    const trace = createTrace(sender, id);
    if (id) sender.confirm(trace);
    const page = roots.begin("load", "page:load", now(0), link, trace);
    recordPageLoad(page);
    const recordChanges = recordVitals(observe, page);
    followUser(roots, signal);
    const origins = [location.origin, ...trustedOrigins];
    const requests = createRequests(origins, sender, roots);
    patchFetch(requests, signal);
    patchXHR(requests, signal);
    patchWebSocket(requests, roots, sender, !!id, signal);
    recordResources(observe, roots, sender, requests, url);
    const leave = () => {
      drain();
      recordChanges();
      roots.finish();
      sender.flush();
    };
    addEventListener("pagehide", leave, { signal });
    // On a phone, this may be the last event of the page.
    addEventListener("visibilitychange", () => {
      if (document.hidden) leave();
    }, { signal });
  }

  /** The number of spans that were dropped because too many were waiting. */
  get dropped(): number {
    return this.#sender?.dropped ?? 0;
  }

  /**
   * Opens a span below the page load, navigation or interaction that is active.
   * Otherwise the span has a trace of its own. It is recorded when it ends, and
   * only if the server traces.
   *
   * @param name The name, such as `hydrate:Search`.
   * @param layer The part of the application. Default: `custom`.
   * @param options The start and the first attributes.
   */
  startSpan(
    name: string,
    layer?: Layer,
    options?: ClientSpanOptions,
  ): ClientSpan {
    const trace = this.#roots?.at() ?? createTrace(this.#sender);
    return openSpan(trace, name, layer, options);
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
   * Restores the functions of the browser, sends the remaining spans, and
   * disconnects. Nothing is recorded after that.
   */
  close(): void {
    this.#end.abort();
    this.#roots?.finish();
    this.#sender?.close();
  }
}
