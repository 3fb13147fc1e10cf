/**
 * What is left of a server's throughput with ten spans a request, over real
 * HTTP. Needs `wrk` on the path.
 *
 * Run it with `deno task bench trace/http`.
 *
 * @module
 */

import { medianOf } from "../compare.ts";

const NAMES = ["bare", "floor", "duties", "kit", "opentelemetry"] as const;
const ROUNDS = Number(Deno.args[0] ?? 7);

interface Running {
  readonly name: string;
  readonly process: Deno.ChildProcess;
  readonly url: string;
  readonly rates: number[];
}

async function start(name: string): Promise<Running> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("http_server.ts", import.meta.url).href, name],
    stdout: "piped",
  }).spawn();
  const reader = process.stdout.getReader();
  const port = new TextDecoder().decode((await reader.read()).value).trim();
  reader.releaseLock();
  return { name, process, url: `http://127.0.0.1:${port}/`, rates: [] };
}

/** Requests a second. */
async function load(url: string, seconds: number): Promise<number> {
  const { stdout } = await new Deno.Command("wrk", {
    args: ["-t1", "-c32", `-d${seconds}s`, url],
  }).output();
  const text = new TextDecoder().decode(stdout);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)![1]);
}

const servers = await Promise.all(NAMES.map(start));
try {
  for (const { url } of servers) await load(url, 2);
  for (let round = 0; round < ROUNDS; round++) {
    for (const { url, rates } of servers) rates.push(await load(url, 1));
  }
} finally {
  for (const { process } of servers) process.kill();
  for (const { process } of servers) {
    await process.stdout.cancel();
    await process.status;
  }
}

const bare = medianOf(servers[0]!.rates);
console.log("\nThroughput with ten spans a request");
for (const { name, rates } of servers) {
  const median = medianOf(rates);
  console.log(
    `  ${name.padEnd(14)} ${median.toFixed(0).padStart(8)} requests/s  ${
      (median / bare).toFixed(2)
    }`,
  );
}
