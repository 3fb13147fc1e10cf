import type { BrowserXHR } from "./browser.ts";
import { replace } from "./replace.ts";
import type { Requests } from "./requests.ts";

declare const XMLHttpRequest: new () => BrowserXHR;

/** The global object of a browser. */
interface BrowserGlobal {
  XMLHttpRequest: new () => BrowserXHR;
}

/**
 * Replaces the page's `XMLHttpRequest` by a subclass. It traces requests like
 * `fetch` does.
 *
 * @param signal Restores the page's own.
 */
export function patchXHR(
  { isTraced, open }: Requests,
  signal: AbortSignal,
): void {
  const Native = XMLHttpRequest;

  class TracedXHR extends Native {
    #method = "";
    #url: string | URL = "";
    /** Whether the request has a `traceparent`: the page's, or ours. */
    #hasParent = false;

    override open(...args: Parameters<BrowserXHR["open"]>): void {
      super.open(...args);
      this.#hasParent = false;
      [this.#method, this.#url] = args;
    }

    override setRequestHeader(name: string, value: string): void {
      super.setRequestHeader(name, value);
      this.#hasParent ||= /^traceparent$/i.test(name);
    }

    override send(body?: unknown): void {
      if (this.readyState === 1 && !this.#hasParent && isTraced(this.#url)) {
        const call = open("xhr", this.#method.toUpperCase(), this.#url);
        this.setRequestHeader("traceparent", call.traceparent);
        const on = (type: string, listener: () => void) =>
          this.addEventListener(type, listener, { once: true });
        // Unlike `getResponseHeader`, it reports no error for other origins.
        on(
          "load",
          () => call.respond(this.status, this.getAllResponseHeaders()),
        );
        on("abort", () => call.fail());
        on("error", () => call.fail(new DOMException("", "NetworkError")));
        on("timeout", () => call.fail(new DOMException("", "TimeoutError")));
      }
      super.send(body);
    }
  }
  replace(
    globalThis as unknown as BrowserGlobal,
    "XMLHttpRequest",
    TracedXHR,
    signal,
  );
}
