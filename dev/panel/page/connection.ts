/**
 * Finds the traces of the page's requests, and follows their state.
 *
 * @module
 */

import { isCached, linkOf } from "../../../trace/client/resources.ts";
import type { PanelState } from "../state.ts";

type ResourceTiming = Parameters<typeof linkOf>[0];

const PATH = "/__app/traces/panel";
const FIRST_RETRY = 500;
const LAST_RETRY = 15_000;
/** How long requests are collected, in milliseconds. */
const PAUSE = 100;
/** Maximum traces of requests, besides the document's. */
const MAX_REQUESTS = 99;

/**
 * Follows the page's state until the page is left.
 *
 * @param onState Called with the state at each change, and with the last one
 * when the connection is lost.
 */
export function connect(
  onState: (state: PanelState | undefined, isLive: boolean) => void,
): void {
  let page: string | undefined;
  const requests = new Set<string>();
  let state: PanelState | undefined;
  let socket: WebSocket | undefined;
  /** Whether a socket was open. */
  let hasSockets = false;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    if (socket !== undefined) return;
    const origin = location.origin.replace("http", "ws");
    const ws = socket = new WebSocket(`${origin}${PATH}`);
    ws.onopen = () => {
      hasSockets = true;
      send();
    };
    ws.onmessage = ({ data }) => {
      failures = 0;
      receive(data);
    };
    ws.onclose = async () => {
      if (socket !== ws) return;
      socket = undefined;
      if (!hasSockets && await ask()) return;
      onState(state, false);
      const wait = Math.min(FIRST_RETRY * 2 ** failures++, LAST_RETRY);
      setTimeout(open, wait);
    };
  }

  function receive(text: string): void {
    const next: PanelState = JSON.parse(text);
    // A server that was restarted doesn't know the page.
    if (next.traceId !== undefined || next.requests > 0) state = next;
    onState(state, true);
  }

  function send(): void {
    timer = undefined;
    if (socket?.readyState === WebSocket.OPEN) socket.send(ids());
    else if (!hasSockets && socket === undefined) ask();
  }

  /**
   * Asks for the state once. Node has no sockets without the package ws.
   *
   * @returns Whether there is an answer.
   */
  async function ask(): Promise<boolean> {
    try {
      const { origin } = location;
      const query = `ids=${encodeURIComponent(ids())}`;
      // A page may have a base of another origin.
      const response = await fetch(`${origin}${PATH}?${query}`);
      if (response.ok) receive(await response.text());
      return response.ok;
    } catch {
      return false;
    }
  }

  function ids(): string {
    const latest = [...requests].slice(-MAX_REQUESTS);
    return JSON.stringify(page === undefined ? latest : [page, ...latest]);
  }

  function note(entries: PerformanceEntryList): void {
    for (const entry of entries as unknown as ResourceTiming[]) {
      const id = linkOf(entry)?.slice(3, 35);
      if (id === undefined) continue;
      // The trace of a document from the cache still says how it was made.
      if (entry.entryType === "navigation") page = id;
      else if (!isCached(entry)) requests.add(id);
      timer ??= setTimeout(send, PAUSE);
    }
  }

  note(performance.getEntriesByType("navigation"));
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  for (const type of ["navigation", "resource"]) {
    observer.observe({ type, buffered: true });
  }
  // Browsers don't keep a page with an open socket.
  addEventListener("pagehide", () => {
    const last = socket;
    socket = undefined;
    last?.close();
  });
  addEventListener("pageshow", open);
  open();
}
