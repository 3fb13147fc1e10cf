/**
 * Processes of {@linkcode file://./kit_app.ts}, and their users.
 *
 * @module
 */

import { type Client, createClient } from "@quartet/kit/rpc/client";
import { type Child, ROOT, startDeno } from "../helpers.ts";
import type { CookieSockets } from "../soak/cookie_sockets.ts";
import type { Api, Figures, KitAppOptions } from "./kit_app.ts";

/** A process that serves the app. It's killed at the end of its block. */
export interface KitProcess extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  readonly log: string;
  /** Sends a signal. After `SIGKILL` or `SIGTERM`, wait for `ended`. */
  kill(signal: Deno.Signal): void;
  /** The exit code. Resolves when the process has ended. */
  readonly ended: Promise<number>;
}

/** Starts a process, and waits until it listens. */
export async function startKit(options: KitAppOptions): Promise<KitProcess> {
  const child: Child = startDeno([
    "run",
    "-A",
    "--no-check",
    "--v8-flags=--expose-gc",
    new URL("tests/cluster/kit_app.ts", ROOT).href,
    JSON.stringify(options),
  ]);
  let origin: string;
  try {
    [origin] = await child.printed(/http:\/\/\S+/) as unknown as [string];
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
  return {
    origin,
    port: Number(new URL(origin).port),
    get log() {
      return child.stderr;
    },
    kill: (signal) => child.kill(signal),
    ended: child.code,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** The answer to a request. */
export interface Answer {
  /** The HTTP status, or 0 if the connection broke. */
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- the tests know what they asked for
  readonly body: any;
  /** Duration in milliseconds. */
  readonly ms: number;
}

/**
 * A client with cookies. Its connections are closed at the end of its block.
 */
export interface Visitor extends Disposable {
  /** The cookies, as a header. */
  cookie: string;
  /** The origin of its requests. Tests may change it. */
  origin: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  /** Calls procedures. Failed calls reject. */
  readonly rpc: Client<Api>;
  figures(): Promise<Figures>;
  /** Subscribes to the messages. */
  follow(): Follower;
}

/** A subscription, and the values it received. */
export interface Follower extends Disposable {
  readonly values: number[];
  /** For each gap, the number of values received before it. */
  readonly gaps: number[];
  readonly errors: (Error & { readonly code?: string })[];
}

/** Maximum time that a visitor waits for an answer, in milliseconds. */
const LIMIT = 30_000;

/** Opens a client of a process, or of a proxy in front of it. */
export function visit(
  target: { readonly origin: string },
  sockets: CookieSockets,
  headers: Record<string, string> = {},
): Visitor {
  const client = Deno.createHttpClient({});
  const cookies = new Map<string, string>();

  async function send(url: string, init: RequestInit = {}): Promise<Response> {
    const sent = new Headers(init.headers);
    for (const [name, value] of Object.entries(headers)) sent.set(name, value);
    if (visitor.cookie !== "") sent.set("cookie", visitor.cookie);
    const signal = AbortSignal.timeout(LIMIT);
    const response = await fetch(url, {
      ...init,
      headers: sent,
      signal,
      client,
    });
    const body = await response.arrayBuffer();
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!;
      if (value === "") cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    visitor.cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const { status } = response;
    return new Response(body, { status, headers: response.headers });
  }

  async function ask(path: string, init?: RequestInit): Promise<Answer> {
    const start = performance.now();
    try {
      const response = await send(visitor.origin + path, init);
      const { status, headers } = response;
      const body = await response.json();
      return { status, headers, body, ms: performance.now() - start };
    } catch (body) {
      const ms = performance.now() - start;
      return { status: 0, headers: new Headers(), body, ms };
    }
  }

  const visitor: Visitor = {
    cookie: "",
    origin: target.origin,
    get: (path) => ask(path),
    post: (path, body) =>
      ask(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body ?? {}),
      }),
    rpc: createClient<Api>({
      httpEndpoint: `${target.origin}/api/rpc`,
      fetch: (url, init) =>
        send(url.replace(target.origin, visitor.origin), init),
      wsEndpoint: () =>
        sockets.withCookie(`${visitor.origin}/api/rpc`, visitor.cookie),
      reconnect: { delayMs: 50, maxDelayMs: 500 },
      heartbeatMs: 1_000,
    }),
    async figures() {
      return (await ask("/figures")).body;
    },
    follow() {
      const values: number[] = [];
      const gaps: number[] = [];
      const errors: Error[] = [];
      const stop = visitor.rpc.news.subscribe(undefined, {
        onData: (value: number) => values.push(value),
        onGap: () => gaps.push(values.length),
        onError: (error: Error) => errors.push(error),
        onComplete: () => errors.push(new Error("It is complete")),
      } as never);
      return { values, gaps, errors, [Symbol.dispose]: stop as () => void };
    },
    [Symbol.dispose]: () => client.close(),
  };
  return visitor;
}

/**
 * The server whose data the processes cache. It's closed at the end of its
 * block.
 */
export interface Origin extends AsyncDisposable {
  readonly origin: string;
  /** The version of all values. */
  version: number;
  /** Number of requests so far. */
  readonly reads: number;
}

/** Starts an origin. Its values are `<key> <version>`. */
export function startOrigin(): Origin {
  let reads = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      reads++;
      const key = new URL(request.url).pathname.slice(1);
      return new Response(`${key} ${origin.version}`);
    },
  );
  const origin: Origin = {
    origin: `http://127.0.0.1:${server.addr.port}`,
    version: 1,
    get reads() {
      return reads;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return origin;
}
