/**
 * Measures the messages per second of a subscription and the server's memory,
 * compared with other libraries and a bare loop.
 *
 * Run it with `deno task bench rpc/subscriptions`. Arguments of the file:
 * rounds (default 5), and the names of the candidates (default: all).
 *
 * @module
 */

import { RPCLink } from "@orpc/client/websocket";
import { medianOf } from "../compare.ts";
import { exchange } from "./frame_reader.ts";

const ROUNDS = Number(Deno.args[0] ?? 5);
const SIZES = [100_000, 400_000];
/** Milliseconds after which an unfinished server is given up. */
const TIMEOUT = 60_000;

interface Candidate {
  readonly path: string;
  readonly subscribe: (
    count: number,
  ) => string | Uint8Array | Promise<string | Uint8Array>;
}

const CANDIDATES: Readonly<Record<string, Candidate>> = {
  "bare": {
    path: "/",
    subscribe: (count) => JSON.stringify({ count }),
  },
  "@quartet/kit": {
    path: "/api/rpc",
    subscribe: (count) =>
      JSON.stringify({
        type: "subscribe",
        id: "1",
        path: ["count"],
        input: { count },
      }),
  },
  "tRPC": {
    path: "/",
    subscribe: (count) =>
      JSON.stringify({
        id: 1,
        method: "subscription",
        params: { path: "count", input: { count } },
      }),
  },
  "oRPC": { path: "/", subscribe: subscribeORPC },
};

/**
 * Returns the message of oRPC's own client, captured from a socket that isn't
 * really open.
 */
function subscribeORPC(count: number): Promise<string | Uint8Array> {
  const { promise, resolve } = Promise.withResolvers<string | Uint8Array>();
  const websocket = {
    readyState: WebSocket.OPEN,
    addEventListener() {},
    send: resolve,
  };
  const link = new RPCLink({ websocket: websocket as unknown as WebSocket });
  // The response never arrives, and nothing waits for it.
  link.call(["count"], { count }, { context: {} }).catch(() => {});
  return promise;
}

interface Run {
  /** Messages per second, or 0 after a timeout. */
  readonly rate: number;
  /** The server's peak memory, in MB. */
  readonly peak: number;
}

async function measure(name: string, count: number): Promise<Run> {
  const { path, subscribe } = CANDIDATES[name]!;
  const message = await subscribe(count);
  // A new process each time, because a peak can't be reset.
  const server = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--lock=deno.lock",
      new URL("subscription_server.ts", import.meta.url).href,
      name,
    ],
    stdout: "piped",
  }).spawn();
  const reader = server.stdout.getReader();
  try {
    let text = "";
    while (!/^\d+$/m.test(text)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`${name} has not started`);
      text += new TextDecoder().decode(value);
    }
    const port = Number(/^\d+$/m.exec(text)![0]);
    const begin = performance.now();
    const done = await Promise.race([
      exchange(port, path, message, count).then(() => true),
      new Promise<false>((resolve) => {
        Deno.unrefTimer(setTimeout(resolve, TIMEOUT, false));
      }),
    ]);
    const seconds = (performance.now() - begin) / 1000;
    return { rate: done ? count / seconds : 0, peak: await peakOf(server.pid) };
  } finally {
    server.kill("SIGKILL");
    await reader.cancel();
    await server.status;
  }
}

async function peakOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1024;
}

const names = Deno.args.length > 1
  ? Deno.args.slice(1)
  : Object.keys(CANDIDATES);
for (const count of SIZES) {
  const runs = new Map<string, Run[]>(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) runs.get(name)!.push(await measure(name, count));
  }
  console.log(`\n${count.toLocaleString("en")} messages to one client`);
  const rateOf = (name: string) =>
    medianOf(runs.get(name)!.map(({ rate }) => rate));
  for (const name of names) {
    const rate = rateOf(name);
    const peak = medianOf(runs.get(name)!.map(({ peak }) => peak));
    console.log(
      `  ${name.padEnd(14)} ${rate.toFixed(0).padStart(8)} messages/s  ${
        (rate / rateOf(names[0]!)).toFixed(2)
      }  peak ${peak.toFixed(0).padStart(4)} MB`,
    );
  }
}
