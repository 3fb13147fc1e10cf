/**
 * Serves an app with `node:http`. WebSockets need the package `ws` among the
 * app's dependencies.
 *
 * @module
 */

import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { pathToFileURL } from "node:url";
import { nodeRequest } from "../app/adapters/node_upgrade.ts";
import { createNodeHost, type NodeHost } from "../app/adapters/to_node.ts";
import { printable, printableError } from "../core/redact/printable.ts";
import { redactText } from "../core/redact/redact.ts";
import {
  type DevApp,
  type DevServer,
  devServer,
  type DevServerOptions,
} from "./dev_server.ts";
import { importModule } from "./import_module.ts";

/** Listens with Node's server. */
export async function startNodeServer(
  app: DevApp,
  { hostname, port, entry }: DevServerOptions,
): Promise<DevServer> {
  const webSocketServer = await createWebSocketServer(entry);
  const node = createNodeHost(
    app,
    webSocketServer === undefined ? {} : { webSocketServer },
    "the package ws is not installed; run npm install ws",
  );
  const server = createServer((incoming, outgoing) => {
    answer(node.fetch, incoming, outgoing).catch((error) => {
      outgoing.destroy();
      // The client has left. Other errors are those of the body.
      if (error?.code === "ERR_STREAM_PREMATURE_CLOSE") return;
      const path = printable(redactText(incoming.url!));
      console.error("%s failed:", path, printableError(error));
    });
  });
  server.on("upgrade", node.upgrade);
  server.listen(port, hostname);
  await once(server, "listening");
  const { port: actual } = server.address() as AddressInfo;
  return devServer(app, hostname, actual, () => {
    const closed = once(server, "close");
    server.close();
    return closed;
  }, () => server.closeAllConnections());
}

async function answer(
  fetch: NodeHost["fetch"],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const request = toRequest(incoming, outgoing);
  const response = request === undefined
    ? new Response(null, { status: 400 })
    : await fetch(request, { incoming, outgoing });
  outgoing.statusCode = response.status;
  outgoing.statusMessage = response.statusText;
  outgoing.setHeaders(response.headers);
  if (response.body === null || incoming.method === "HEAD") {
    await response.body?.cancel();
    outgoing.end();
  } else {
    outgoing.flushHeaders();
    const body = Readable.fromWeb(response.body as NodeReadableStream);
    await pipeline(body, outgoing);
  }
}

/** Returns `undefined` for a request that `Request` can't represent. */
function toRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Request | undefined {
  const request = nodeRequest(incoming, incoming.socket);
  const { method = "GET" } = incoming;
  if (request === undefined) return undefined;
  const abort = new AbortController();
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) abort.abort();
  });
  const hasBody = method !== "GET" && method !== "HEAD";
  const init = {
    method,
    signal: abort.signal,
    ...(hasBody && { body: bodyOf(incoming, outgoing), duplex: "half" }),
  };
  try {
    return new Request(request, init as RequestInit);
  } catch {
    // A method that `fetch` forbids, such as TRACE.
    return undefined;
  }
}

/**
 * Returns the body of a request. Nothing is read before the app asks for it: Node
 * discards a body that nobody has read, and then answers the next request of the
 * connection. `Readable.toWeb()` reads ahead, so the connection would hang.
 */
function bodyOf(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): ReadableStream<Uint8Array> {
  let chunks: AsyncIterator<Uint8Array> | undefined;
  return new ReadableStream({
    async pull(controller) {
      if (chunks === undefined && outgoing.writableFinished) {
        throw new TypeError(
          "Cannot read body: it was discarded with the response; read it before",
        );
      }
      chunks ??= incoming.iterator({ destroyOnReturn: false });
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    async cancel() {
      await chunks?.return?.();
      incoming.resume();
    },
  }, { highWaterMark: 0 });
}

/** Returns `undefined` if the app doesn't depend on `ws`. */
async function createWebSocketServer(
  entry: string,
): Promise<object | undefined> {
  let path: string;
  try {
    path = createRequire(pathToFileURL(entry)).resolve("ws");
  } catch {
    return undefined;
  }
  const ws = await importModule(pathToFileURL(path).href) as {
    default: { WebSocketServer: new (options: object) => object };
  };
  return new ws.default.WebSocketServer({ noServer: true });
}
