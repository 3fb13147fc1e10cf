import { replace } from "./replace.ts";
import { requestTrace, tracedPath, traceparentOf } from "./requests.ts";
import { findRoot } from "./roots.ts";
import { ClientSpan, type ClientTrace } from "./span.ts";

/** The start of a message that subscribes in the kit's RPC. */
const SUBSCRIBE = /^{"type":"subscribe","id":"[^"]*",(?="path":\[)/;

/** The trace of a broken socket, and the close codes so far. */
type Line = readonly [trace?: ClientTrace, codes?: string];

/**
 * Replaces the page's `WebSocket` by a subclass, which traces sockets until they
 * open. Messages of the kit's RPC that subscribe carry `traceparent`. All others
 * stay unchanged.
 */
export function patchWebSocket(): void {
  /** Broken sockets, by name. */
  const broken: Record<string, Line | false> = {};

  replace(globalThis, "WebSocket", (Native) =>
    class extends Native {
      #span: ClientSpan | undefined;

      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        super(...args);
        const path = tracedPath(this.url.replace("ws", "http"));
        if (!path) return;
        const name = `websocket ${path}`;
        const [trace = requestTrace(), codes] = broken[name] || [];
        const span = this.#span = new ClientSpan(trace, name, "request", {
          attributes: {
            "app.detached": codes && true,
            "app.websocket.close_code": codes,
          },
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
            const root = findRoot(true);
            const span = root && root.id !== this.#span!.traceId
              ? new ClientSpan(root, "subscribe", "request")
              : this.#span!;
            span.end();
            return `${start}"traceparent":"${traceparentOf(span)}",`;
          });
        }
        super.send(data);
      }
    });
}
