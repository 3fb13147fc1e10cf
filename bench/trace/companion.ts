/**
 * Measures what the dev command adds to a traced request of ten spans, over HTTP:
 * lines of code, logs, findings, earlier runs and the panel. Needs `wrk` on the
 * PATH.
 *
 * Run it with `deno task bench trace/companion`. Argument of the file: the number
 * of rounds (default 7).
 *
 * @module
 */

import { freePort } from "../../tests/helpers.ts";
import { printRates } from "../compare.ts";
import { type Load, measureInTurns } from "../wrk.ts";

const APP = new URL("companion_server.ts", import.meta.url).pathname;
const DEV = new URL("../../dev.ts", import.meta.url).pathname;
const ROUNDS = Number(Deno.args[0] ?? 7);

/** A server process. Disposing it ends the process. */
interface Server extends AsyncDisposable {
  /** Whether it has ended. */
  isOver: boolean;
}

/** Starts a server. Its output is dropped, so that it can't block. */
function start(folder: string, ...args: string[]): Server {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", ...args],
    // Earlier runs are kept below the working directory.
    cwd: folder,
    stdout: "null",
  }).spawn();
  const server: Server = {
    isOver: false,
    async [Symbol.asyncDispose]() {
      if (!server.isOver) process.kill();
      await process.status;
    },
  };
  process.status.then(() => server.isOver = true);
  return server;
}

async function untilItAnswers(url: string, server: Server): Promise<void> {
  while (!server.isOver) {
    try {
      await (await fetch(url)).text();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`Cannot measure ${url}: its server has ended`);
}

const folder = await Deno.makeTempDir();
try {
  await using stack = new AsyncDisposableStack();
  const loads: Load[] = [];
  const add = async (name: string, port: number, args: string[]) => {
    const server = stack.use(start(folder, ...args));
    const url = `http://127.0.0.1:${port}/`;
    await untilItAnswers(url, server);
    loads.push({ name, url });
  };
  const port = freePort();
  await add("traced and printed", port, [APP, String(port)]);
  const devPort = freePort();
  await add("dev --trace", devPort, [
    DEV,
    APP,
    "--trace",
    "--port",
    String(devPort),
  ]);
  const rates = await measureInTurns(loads, ROUNDS);
  printRates("Ten spans a request", rates, ["traced and printed"]);
} finally {
  await Deno.remove(folder, { recursive: true });
}
