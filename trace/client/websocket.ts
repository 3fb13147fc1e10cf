import type { Attributes } from "../types.ts";
import { replace } from "./replace.ts";
import type { Requests } from "./requests.ts";
import {
  type ClientTrace,
  createTrace,
  openSpan,
  type Roots,
} from "./roots.ts";
import type { Sender } from "./sender.ts";
import type { ClientSpan } from "./span.ts";

/** The start of a message that subscribes in the kit's RPC. */
const SUBSCRIBE = /^{"type":"subscribe","id":"[^"]*",(?="path":\[)/;

/** The trace of a broken socket, and the close codes so far. */
type Line = readonly [trace?: ClientTrace, codes?: string];

/**
 * Replaces the page's `WebSocket` by a subclass, which traces sockets until they
 * open. Messages of the kit's RPC that subscribe carry `traceparent`. All others
 * stay unchanged.
 *
 * @param roots The roots of the page.
 * @param sender Takes the spans.
 * @param isPageTraced Whether the server has traced the page. A page can't read
 * the response to a socket's request.
 * @param signal Restores the page's own `WebSocket`.
 */
export function patchWebSocket(
  { isTraced }: Requests,
  roots: Roots,
  sender: Sender,
  isPageTraced: boolean,
  signal: AbortSignal,
): void {
  /** Broken sockets, by name. */
  const broken: Record<string, Line | false> = {};

  function open(
    trace: ClientTrace,
    name: string,
    attributes: Attributes = {},
  ): ClientSpan {
    trace.isConfirmed ||= isPageTraced;
    return openSpan(trace, name, "request", { attributes });
  }

  class TracedWebSocket extends WebSocket {
    #span: ClientSpan | undefined;

    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      const url = this.url.replace("ws", "http");
      // The tracing's own socket isn't traced.
      if (!isTraced(url) || /role=client$/.test(url)) return;
      const name = `websocket ${new URL(url).pathname}`;
      const [trace = roots.at(undefined, true) ?? createTrace(sender), codes] =
        broken[name] || [];
      const span = this.#span = open(trace, name, {
        "app.detached": codes && true,
        "app.websocket.close_code": codes,
      });
      this.addEventListener("open", () => span.end());
      this.addEventListener("close", ({ code }) => {
        // After the end, these have no effect.
        span.error();
        span.end();
        // 1000 and 1005 are closed on purpose.
        broken[name] = code !== 1000 && code !== 1005 &&
          [trace, (codes ? codes + " " : "") + code];
      });
    }

    override send(data: Parameters<WebSocket["send"]>[0]): void {
      if (this.#span && typeof data === "string") {
        data = data.replace(SUBSCRIBE, (start) => {
          // The action that subscribes, if it isn't the one of the socket.
          const root = roots.at(undefined, true);
          const span = root && root.id !== this.#span!.traceId
            ? open(root, "subscribe")
            : this.#span!;
          span.end();
          return `${start}"traceparent":"00-${span.traceId}-${span.id}-01",`;
        });
      }
      super.send(data);
    }
  }
  replace(globalThis, "WebSocket", TracedWebSocket, signal);
}
