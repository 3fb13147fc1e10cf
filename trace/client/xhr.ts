import type { BrowserXHR } from "./browser.ts";
import { replace } from "./replace.ts";
import { openRequest, tracedPath } from "./requests.ts";

/** The global object of a browser. */
interface BrowserGlobal {
  XMLHttpRequest: new () => BrowserXHR;
}

/** The events that end a request, with the name of the error. */
const ERRORS: Record<string, string> = {
  load: "",
  abort: "",
  error: "NetworkError",
  timeout: "TimeoutError",
};

/**
 * Replaces the page's `XMLHttpRequest` by a subclass. It traces requests like
 * `fetch` does.
 *
 * @param signal Restores the page's own.
 */
export function patchXHR(signal: AbortSignal): void {
  const owner = globalThis as unknown as BrowserGlobal;
  replace(owner, "XMLHttpRequest", (Native) =>
    class extends Native {
      /** The next request, unless it has a `traceparent`: the page's, or ours. */
      #request: Parameters<BrowserXHR["open"]> | undefined;

      override open(...args: Parameters<BrowserXHR["open"]>): void {
        super.open(...args);
        this.#request = args;
      }

      override setRequestHeader(name: string, value: string): void {
        super.setRequestHeader(name, value);
        if (/^traceparent$/i.test(name)) this.#request = undefined;
      }

      override send(body?: unknown): void {
        const [method, url] = this.#request ?? [];
        const path = url && tracedPath(url);
        if (path) {
          const [traceparent, end] = openRequest(
            "xhr",
            method!.toUpperCase(),
            path,
          );
          this.setRequestHeader("traceparent", traceparent);
          for (const type in ERRORS) {
            const name = ERRORS[type];
            this.addEventListener(type, () =>
              end(
                this.status || undefined,
                // Unlike `getResponseHeader`, no error for other origins.
                this.getAllResponseHeaders(),
                name && new DOMException("", name),
              ), { once: true });
          }
        }
        super.send(body);
      }
    }, signal);
}
