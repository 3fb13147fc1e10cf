/**
 * Throughput over HTTP: servers in separate processes, loaded in turns by `wrk`
 * with 32 connections.
 *
 * @module
 */

/**
 * Whether `wrk` is on the `PATH`. A load generator from npm can't replace it:
 * with `autocannon`, a bare server of Deno has a third of its throughput.
 */
export async function hasWrk(): Promise<boolean> {
  try {
    await new Deno.Command("wrk", { args: ["-v"] }).output();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A server process. Disposing it ends the process. */
export interface BenchServer extends AsyncDisposable {
  readonly name: string;
  /** Its origin, such as `http://127.0.0.1:8000`. */
  readonly base: string;
}

/** Starts a file that prints its port. */
export async function startServer(
  name: string,
  file: URL,
  ...args: string[]
): Promise<BenchServer> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--lock=deno.lock", file.href, ...args],
    stdout: "piped",
  }).spawn();
  const reader = process.stdout.getReader();
  const port = new TextDecoder().decode((await reader.read()).value).trim();
  reader.releaseLock();
  return {
    name,
    base: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      try {
        process.kill();
      } catch {
        // The server failed and has printed why.
      }
      await process.stdout.cancel();
      await process.status;
    },
  };
}

/** A request to measure, and its server. */
export interface Load {
  /** The server's name in the table. */
  readonly name: string;
  readonly url: string;
  /** More arguments for `wrk`, such as headers. */
  readonly args?: readonly string[];
}

/** Measures requests per second: one figure for each load and round of 1 s. */
export async function measureInTurns(
  loads: readonly Load[],
  rounds: number,
): Promise<Map<string, number[]>> {
  const rates = new Map<string, number[]>();
  for (const load of loads) {
    await measure(load, 2); // Warms up.
    rates.set(load.name, []);
  }
  for (let round = 0; round < rounds; round++) {
    for (const load of loads) {
      rates.get(load.name)!.push(await measure(load, 1));
    }
  }
  return rates;
}

async function measure(
  { url, args = [] }: Load,
  seconds: number,
): Promise<number> {
  const { stdout } = await new Deno.Command("wrk", {
    args: ["-t1", "-c32", `-d${seconds}s`, ...args, url],
  }).output();
  const text = new TextDecoder().decode(stdout);
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(text) ?? [];
  if (rate === undefined || /Non-2xx/.test(text)) {
    throw new Error(`Cannot measure ${url}: wrk says ${text}`);
  }
  return Number(rate);
}
