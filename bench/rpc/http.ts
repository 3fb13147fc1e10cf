/**
 * How many calls a second a router answers, beside other libraries and a bare
 * handler: in one process, and over real HTTP if `wrk` is on the path.
 *
 * Run it with `deno task bench rpc/http`. Arguments of the file itself: how
 * many rounds over HTTP (default 9; 0 leaves it out), and turns in process
 * (default 201; 0 leaves that out).
 *
 * @module
 */

import { medianOf } from "../compare.ts";
import { PEERS, postOf } from "./peers.ts";
import type { Peer } from "./peers.ts";

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
  // As clients say it, and a server tells.
  const { length } = new TextEncoder().encode(postOf(peer).body);
  request.headers.set("content-length", String(length));
  return request;
}

/** Who answers something else is not compared. */
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
 * The requests of a turn are made before its clock starts: a server has no
 * `new Request`, and how long Deno parses a URL says nothing of who answers it.
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
      // The first tenth warms up.
      if (turn < 0) continue;
      const kept = rates.get(name);
      if (kept === undefined) rates.set(name, [CALLS * 1_000 / time]);
      else kept.push(CALLS * 1_000 / time);
    }
  }
  printRates(
    `${method}, in process`,
    Array.from(rates, ([name, kept]) => [name, medianOf(kept)] as const),
  );
}

interface Running {
  readonly name: string;
  readonly peer: Peer;
  readonly process: Deno.ChildProcess;
  readonly base: string;
  readonly rates: Record<Method, number[]>;
}

async function start([name, peer]: [string, Peer]): Promise<Running> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("http_server.ts", import.meta.url).href, name],
    stdout: "piped",
  }).spawn();
  const reader = process.stdout.getReader();
  const port = new TextDecoder().decode((await reader.read()).value).trim();
  reader.releaseLock();
  const base = `http://127.0.0.1:${port}`;
  return { name, peer, process, base, rates: { GET: [], POST: [] } };
}

async function measureOverHTTP(): Promise<void> {
  const folder = await Deno.makeTempDir();
  const servers: Running[] = [];
  try {
    for (const entry of peers) servers.push(await start(entry));
    for (const server of servers) {
      for (const method of METHODS) await load(server, method, 2, folder);
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const method of METHODS) {
        for (const server of servers) {
          server.rates[method].push(await load(server, method, 1, folder));
        }
      }
    }
  } finally {
    for (const { process } of servers) process.kill();
    for (const { process } of servers) {
      await process.stdout.cancel();
      await process.status;
    }
    await Deno.remove(folder, { recursive: true });
  }
  for (const method of METHODS) {
    printRates(
      `${method}, over HTTP`,
      servers.map(({ name, rates }) => [name, medianOf(rates[method])]),
    );
  }
}

/** Requests a second. */
async function load(
  { peer, base }: Running,
  method: Method,
  seconds: number,
  folder: string,
): Promise<number> {
  const args = ["-t1", "-c32", `-d${seconds}s`];
  if (method === "POST") {
    const { body } = postOf(peer);
    const script = `${folder}/post.lua`;
    await Deno.writeTextFile(
      script,
      `wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = ${JSON.stringify(body)}`,
    );
    args.push("-s", script);
  }
  const path = method === "GET" ? peer.get : peer.post.path;
  const { stdout } = await new Deno.Command("wrk", {
    args: [...args, base + path],
  })
    .output();
  const text = new TextDecoder().decode(stdout);
  if (/Non-2xx/.test(text)) throw new Error(text);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)![1]);
}

/** The first is the bare handler. */
function printRates(
  title: string,
  rates: readonly (readonly [name: string, rate: number])[],
): void {
  console.log(`\n${title}: throughput beside the bare handler's`);
  for (const [name, rate] of rates) {
    console.log(
      `  ${name.padEnd(16)} ${rate.toFixed(0).padStart(8)} calls/s  ${
        (rate / rates[0]![1]).toFixed(2)
      }`,
    );
  }
}
