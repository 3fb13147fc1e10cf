/**
 * Measures the calls per second of a router, compared with other libraries and
 * a bare handler: in one process, and over HTTP with `wrk`.
 *
 * Run it with `deno task bench rpc/http`. Arguments of the file: rounds over
 * HTTP (default 9, 0 for none), and turns in process (default 201, 0 for none).
 *
 * @module
 */

import { printRates } from "../compare.ts";
import {
  type BenchServer,
  type Load,
  measureInTurns,
  startServer,
} from "../wrk.ts";
import { type Peer, PEERS, postOf } from "./peers.ts";

const ROUNDS = Number(Deno.args[0] ?? 9);
const TURNS = Number(Deno.args[1] ?? 201);
/** Calls in a turn. */
const CALLS = 100;
const METHODS = ["GET", "POST"] as const;
type Method = typeof METHODS[number];

const peers = new Map(
  Object.entries(PEERS).map(([name, create]) => [name, create()]),
);
await checkAnswers();
if (TURNS > 0) { for (const method of METHODS) await measureInProcess(method); }
if (ROUNDS > 0) await measureOverHTTP();

function requestOf(peer: Peer, method: Method, base: string): Request {
  if (method === "GET") return new Request(base + peer.get);
  const request = new Request(base + peer.post.path, postOf(peer));
  // Clients send this header, and a server parses it.
  const { length } = new TextEncoder().encode(postOf(peer).body);
  request.headers.set("content-length", String(length));
  return request;
}

/** Throws if a candidate answers differently. */
async function checkAnswers(): Promise<void> {
  for (const method of METHODS) {
    const answers = new Map<string, string>();
    for (const [name, peer] of peers) {
      const response = await peer.fetch(
        requestOf(peer, method, "http://127.0.0.1"),
      );
      const body = await response.json();
      const value = body.data ?? body.json ?? body.result?.data ?? body;
      answers.set(name, `${response.status} ${JSON.stringify(value)}`);
    }
    if (new Set(answers.values()).size > 1) {
      throw new Error(
        `The answers differ:\n${
          [...answers].map((entry) => entry.join(": ")).join("\n")
        }`,
      );
    }
  }
}

/**
 * Requests are created before the clock starts. A server calls no `new
 * Request`, and the time that Deno needs to parse a URL isn't the router's.
 */
async function measureInProcess(method: Method): Promise<void> {
  const rates = new Map<string, number[]>();
  for (let turn = -Math.ceil(TURNS / 10); turn < TURNS; turn++) {
    for (const [name, peer] of peers) {
      const requests = Array.from(
        { length: CALLS },
        () => requestOf(peer, method, "http://127.0.0.1:8000"),
      );
      const begin = performance.now();
      for (const request of requests) {
        const response = await peer.fetch(request);
        await response.text();
      }
      const time = performance.now() - begin;
      // The first tenth is a warm-up.
      if (turn < 0) continue;
      const kept = rates.get(name);
      if (kept === undefined) rates.set(name, [CALLS * 1_000 / time]);
      else kept.push(CALLS * 1_000 / time);
    }
  }
  printRates(`${method}, in process`, rates, ["bare"]);
}

async function measureOverHTTP(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const file = new URL("http_server.ts", import.meta.url);
  const servers: BenchServer[] = [];
  for (const name of peers.keys()) {
    servers.push(stack.use(await startServer(name, file, name)));
  }
  const folder = await Deno.makeTempDir();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  for (const method of METHODS) {
    const loads: Load[] = [];
    for (const { name, base } of servers) {
      const peer = peers.get(name)!;
      loads.push(
        method === "GET"
          ? { name, url: base + peer.get }
          : await createPost(peer, name, base, `${folder}/${loads.length}.lua`),
      );
    }
    const rates = await measureInTurns(loads, ROUNDS);
    printRates(`${method}, over HTTP`, rates, ["bare"]);
  }
}

/** `wrk` accepts a body only from a script. */
async function createPost(
  peer: Peer,
  name: string,
  base: string,
  script: string,
): Promise<Load> {
  await Deno.writeTextFile(
    script,
    `wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = ${JSON.stringify(postOf(peer).body)}`,
  );
  return { name, url: base + peer.post.path, args: ["-s", script] };
}
