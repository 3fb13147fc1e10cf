import type { BrowserXHR } from "./browser.ts";
import { now } from "./clock.ts";
import { replace } from "./replace.ts";
import { findRoot } from "./roots.ts";

declare const XMLHttpRequest: { readonly prototype: BrowserXHR };

/**
 * Keeps a root active while its `XMLHttpRequest` runs. The browser's timing of
 * resources makes the span.
 */
export function followXHR(): void {
  replace(
    XMLHttpRequest.prototype,
    "send",
    (native) =>
      function (...args) {
        const root = findRoot(true);
        root?.opened();
        this.addEventListener("loadend", () => root?.ended(now()), {
          once: true,
        });
        native.apply(this, args);
      },
  );
}
