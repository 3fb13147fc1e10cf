/**
 * Sends all kinds of requests about traces to a server, as raw bytes, and
 * returns the status of each.
 *
 * @module
 */

import { type Child, handshake, startDeno } from "../helpers.ts";

/** Status of each kind of request. */
export interface Statuses {
  readonly viewer: number;
  readonly api: number;
  /** Live stream. */
  readonly ws: number;
  readonly post: number;
  /** Socket through which pages post spans. */
  readonly wsClient: number;
  /** Receiver of other services' spans. */
  readonly otlp: number;
}

/** Returns the same status for all kinds. */
export function all(status: number): Statuses {
  return {
    viewer: status,
    api: status,
    ws: status,
    post: status,
    wsClient: status,
    otlp: status,
  };
}

/** A server started by a test. */
export interface TracedServer {
  readonly child: Child;
  readonly port: number;
  /** Id of a stored trace. */
  readonly traceId: string;
}

export interface TracedServerOptions {
  /** Permissions. Default: the network and the environment. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** `plugin` or `handlers`, and optionally `authorize`. */
  readonly args: readonly string[];
}

/**
 * Without these, the tests' environment could put each child into production.
 */
const PLAIN = { DENO_ENV: "", NODE_ENV: "" };

/** Starts a server. Dispose its child to stop it. */
export async function startTracedServer(
  { flags = ["--allow-net", "--allow-env"], env = {}, args }:
    TracedServerOptions,
): Promise<TracedServer> {
  const child = startDeno(
    ["run", "--no-check", ...flags, "tests/trace/traced_server.ts", ...args],
    undefined,
    { env: { ...PLAIN, ...env } },
  );
  const [line] = await child.printed(/^\{.*\}$/m);
  return { child, ...JSON.parse(line) };
}

/** Sends each kind of request. */
export async function askForTraces(
  target: Deno.ConnectOptions,
  headers: Record<string, string> = {},
  traceId = "0".repeat(32),
): Promise<Statuses> {
  const base = "/__app/traces";
  const body = JSON.stringify({
    type: "client:spans",
    traceId,
    spans: [{
      id: crypto.randomUUID().replaceAll("-", "").slice(0, 16),
      name: "paint",
      startTime: Date.now(),
      endTime: Date.now(),
    }],
  });
  const get = (path: string) => request("GET", path, headers);
  const upgrade = (path: string) => handshake(headers, { target: path });
  return {
    viewer: await statusOf(target, get(base)),
    api: await statusOf(target, get(`${base}/api`)),
    ws: await statusOf(target, upgrade(`${base}/ws`)),
    post: await statusOf(
      target,
      request("POST", `${base}/api`, headers, body),
    ),
    wsClient: await statusOf(target, upgrade(`${base}/ws?role=client`)),
    otlp: await statusOf(
      target,
      request(
        "POST",
        `${base}/otlp/v1/traces`,
        { "Content-Type": "application/json", ...headers },
        '{"resourceSpans":[]}',
      ),
    ),
  };
}

function request(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = "",
): string {
  const lines = Object.entries({
    Host: "127.0.0.1",
    Connection: "close",
    ...body !== "" && { "Content-Length": String(body.length) },
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/** Sends bytes and returns the status of the response. */
export async function statusOf(
  target: Deno.ConnectOptions,
  text: string,
): Promise<number> {
  using connection = await Deno.connect(target);
  await connection.write(new TextEncoder().encode(text));
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  let received = "";
  for (;;) {
    const size = await connection.read(buffer);
    if (size === null) throw new Error(`No status in ${received}`);
    received += decoder.decode(buffer.subarray(0, size), { stream: true });
    const status = /^HTTP\/1\.[01] (\d{3}) /.exec(received);
    if (status !== null) return Number(status[1]);
  }
}
