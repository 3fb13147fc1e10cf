/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * The panel's script in the page.
 *
 * @module
 */

import { connect } from "./connection.ts";
import { TracePanel } from "./element.ts";

/** How long a page that still arrives may hold back the panel, in milliseconds. */
const MAX_WAIT = 1_000;

start();

function start(): void {
  const tag = document.currentScript;
  // A framework that takes over the document doesn't expect it.
  tag?.remove();
  // A cached page may be opened in a frame.
  if (window !== top || customElements.get("trace-panel")) return;
  customElements.define("trace-panel", TracePanel);
  const panel = new TracePanel(tag?.dataset.frame !== "no");
  // Beside the body, whose content belongs to the page.
  const show = () => {
    if (!panel.isConnected) document.documentElement.append(panel);
  };
  if (document.readyState === "loading") {
    addEventListener("DOMContentLoaded", show);
    setTimeout(show, MAX_WAIT);
  } else show();
  connect((state, isLive) => panel.update(state, isLive));
}
