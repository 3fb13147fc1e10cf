/**
 * Helpers for tests of the router: a server, clients that speak its protocol,
 * and a raw client that can send invalid frames.
 *
 * @module
 */

import {
  type App,
  type AppOptions,
  createApp,
  type Server,
} from "@quartet/kit/app";
import {
  type ErrorReport,
  type Router,
  type RPCFailure,
  rpcPlugin,
  type RPCPluginOptions,
} from "@quartet/kit/rpc";
import { concatBytes } from "../../core/bytes/bytes.ts";
import { handshake as handshakeOf } from "../helpers.ts";

/** Response to a request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any -- tests read any field
  readonly body: any;
}

/** A message from a server. */
export interface Message {
  readonly type: string;
  readonly id: string;
  // deno-lint-ignore no-explicit-any -- tests read any field
  readonly data?: any;
  readonly eventId?: string;
  readonly error?: RPCFailure;
}

/** A server with a router. Disposing it stops it. */
export interface TestServer extends AsyncDisposable {
  readonly app: App;
  readonly server: Server;
  readonly port: number;
  readonly url: string;
  /** Sends a request to the endpoint. */
  request(init?: RequestInit, query?: string): Promise<Answer>;
  /** Calls a query by GET. `input` is encoded as JSON. */
  get(path: string, input?: unknown): Promise<Answer>;
  /** Sends a body by POST: a string unchanged, anything else as JSON. */
  post(body: unknown): Promise<Answer>;
}

/** Serves a router with `rpcPlugin`. */
export async function serveRouter(
  router: Pick<Router, "handler" | "websocket">,
  plugin: Omit<RPCPluginOptions, "router"> = {},
  options: AppOptions = {},
): Promise<TestServer> {
  const { plugins = [], ...rest } = options;
  const app = createApp({
    ...rest,
    plugins: [...plugins, rpcPlugin({ router, ...plugin })],
  });
  const server = await app.serve({
    port: 0,
    signals: false,
    shutdownTimeout: 3_600,
    onListen() {},
  });
  const { port } = server.address;
  const url = `http://127.0.0.1:${port}${plugin.endpoint ?? "/api/rpc"}`;

  async function request(init: RequestInit = {}, query = ""): Promise<Answer> {
    return await answerOf(await fetch(url + query, init));
  }

  return {
    app,
    server,
    port,
    url,
    request,
    get: (path, input) => request({}, queryOf(path, input)),
    post: (body) => request(postOf(body)),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Returns the query string of a GET. */
export function queryOf(path: string, input?: unknown): string {
  const query = new URLSearchParams({ path });
  if (input !== undefined) query.set("input", JSON.stringify(input));
  return `?${query}`;
}

/** Returns a POST: a string unchanged, anything else as JSON. */
export function postOf(body: unknown): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

export async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const isJSON = headers.get("content-type") === "application/json";
  const body = isJSON && text !== "" ? JSON.parse(text) : undefined;
  return { status, headers, text, body };
}

/** Calls a router's handler without a server. */
export async function ask(
  router: Pick<Router, "handler">,
  init: RequestInit = {},
  query = "",
): Promise<Answer> {
  const request = new Request(`http://localhost/api/rpc${query}`, init);
  return await answerOf(await router.handler(request));
}

/** A client on a socket. Disposing it closes the socket. */
export interface Client extends AsyncDisposable {
  readonly socket: WebSocket;
  readonly closed: Promise<CloseEvent>;
  /** Sends bytes and strings unchanged, and anything else as JSON. */
  send(message: unknown): void;
  next(): Promise<Message>;
  /** Waits for the next messages. */
  take(count: number): Promise<Message[]>;
  /** Sends a ping and returns the messages received before its answer. */
  settle(): Promise<Message[]>;
}

/** Opens a socket. */
export async function connect(
  { url, headers = {} }: { url: string; headers?: HeadersInit },
): Promise<Client> {
  // With the DOM's types loaded, the constructor has no `headers` option.
  const options = { headers } as never;
  const socket = new WebSocket(url.replace("http", "ws"), options);
  const messages: Message[] = [];
  let wake: ((message: Message) => void) | undefined;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (wake === undefined) messages.push(message);
    else wake(message);
    wake = undefined;
  };
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("The socket was refused"));
  });
  let read = 0;
  const next = (): Promise<Message> => {
    if (read < messages.length) return Promise.resolve(messages[read++]!);
    messages.length = read = 0;
    return new Promise((resolve) => wake = resolve);
  };
  const send = (message: unknown) =>
    socket.send(
      typeof message === "string" || message instanceof Uint8Array
        ? message as string
        : JSON.stringify(message),
    );
  return {
    socket,
    closed,
    send,
    next,
    async take(count) {
      const taken: Message[] = [];
      while (taken.length < count) taken.push(await next());
      return taken;
    },
    async settle() {
      send({ type: "ping" });
      const before: Message[] = [];
      for (;;) {
        const message = await next();
        if (message.type === "pong") return before;
        before.push(message);
      }
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      await closed;
    },
  };
}

/** Returns a message that subscribes. */
export function subscribe(id: string, path: string, input?: unknown) {
  return { type: "subscribe", id, path: path.split("."), input };
}

/** Waits for a condition that emits no event, by polling. */
export async function until(condition: () => boolean): Promise<void> {
  // Far longer than anything that tests wait for.
  for (let i = 0; i < 20_000; i++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve));
  }
  throw new Error(`It has not happened: ${condition}`);
}

/** Options of a router that record its reports. */
type ErrorLog = { readonly onError: ErrorReport } & {
  /** Not enumerable, so that a router doesn't treat it as an option. */
  readonly logged: unknown[];
};

/** Records a router's reports instead of logging them. */
export function errorLog(): ErrorLog {
  const logged: unknown[] = [];
  const log = { onError: (error: unknown) => void logged.push(error), logged };
  return Object.defineProperty(log, "logged", { enumerable: false });
}

/** Returns a client's frame (RFC 6455, section 5.2), masked with zeros. */
export function frame(
  payload: string | Uint8Array,
  { opcode = 1, fin = true } = {},
): Uint8Array<ArrayBuffer> {
  const data = typeof payload === "string"
    ? new TextEncoder().encode(payload)
    : payload;
  const { length } = data;
  const size = length < 126
    ? [length]
    : length < 65_536
    ? [126, length >> 8, length & 255]
    : [127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((bits) => length >> bits & 255)];
  size[0]! |= 0x80;
  const header = [(fin ? 0x80 : 0) | opcode, ...size, 0, 0, 0, 0];
  return concatBytes([new Uint8Array(header), data]);
}

/** A socket with manual reads and writes. */
export interface RawClient extends Disposable {
  readonly connection: Deno.TcpConn;
  /** Sends bytes unchanged, and anything else as a text frame of JSON. */
  send(message: unknown): Promise<void>;
  /** Waits for the next message. `null` at the end. */
  next(): Promise<Message | null>;
}

/** Opens a WebSocket over plain TCP. */
export async function connectRaw(port: number): Promise<RawClient> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  // Sends small frames without delay.
  connection.setNoDelay();
  await writeAll(connection, new TextEncoder().encode(handshake()));
  // Unread bytes are between start and end.
  let buffer = new Uint8Array(65_536);
  let start = 0;
  let end = 0;
  const chunk = new Uint8Array(65_536);

  async function more(): Promise<boolean> {
    const size = await connection.read(chunk).catch(() => null);
    if (size === null) return false;
    if (end + size > buffer.length) {
      const larger = new Uint8Array(2 * (end - start + size));
      larger.set(buffer.subarray(start, end));
      [buffer, start, end] = [larger, 0, end - start];
    }
    buffer.set(chunk.subarray(0, size), end);
    end += size;
    return true;
  }

  const decoder = new TextDecoder();
  for (;;) {
    const head = decoder.decode(buffer.subarray(0, end)).indexOf("\r\n\r\n");
    if (head !== -1) {
      start = head + 4;
      break;
    }
    if (!await more()) throw new Error("The handshake was not answered");
  }

  async function next(): Promise<Message | null> {
    for (;;) {
      const found = readFrame(buffer.subarray(start, end));
      if (found !== undefined) {
        start += found.end;
        if (found.opcode === 1) return JSON.parse(decoder.decode(found.data));
        if (found.opcode === 8) return null;
      } else if (!await more()) return null;
    }
  }

  return {
    connection,
    send: (message) =>
      writeAll(
        connection,
        message instanceof Uint8Array
          ? message
          : frame(JSON.stringify(message)),
      ),
    next,
    [Symbol.dispose]: () => connection.close(),
  };
}

function readFrame(bytes: Uint8Array) {
  if (bytes.length < 2) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let length = bytes[1]! & 127;
  let start = 2;
  if (length === 126) {
    if (bytes.length < 4) return undefined;
    length = view.getUint16(2);
    start = 4;
  } else if (length === 127) {
    if (bytes.length < 10) return undefined;
    length = Number(view.getBigUint64(2));
    start = 10;
  }
  const end = start + length;
  if (bytes.length < end) return undefined;
  return { opcode: bytes[0]! & 15, data: bytes.subarray(start, end), end };
}

/** Writes all bytes: `write` may write only some. */
export async function writeAll(
  connection: Deno.TcpConn,
  bytes: Uint8Array,
): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += await connection.write(bytes.subarray(at));
  }
}

/** Returns a handshake with the router's endpoint. */
export function handshake(
  changes?: Record<string, string | undefined>,
  target = "/api/rpc",
): string {
  return handshakeOf(changes, { target });
}
