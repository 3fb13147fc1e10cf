/**
 * Measures the share of a server's throughput that remains with ten spans per
 * request, over HTTP. Needs `wrk` on the PATH.
 *
 * Run it with `deno task bench trace/http`. Argument of the file: the number of
 * rounds (default 7).
 *
 * @module
 */

import { printRates } from "../compare.ts";
import { type Load, measureInTurns, startServer } from "../wrk.ts";

const NAMES = [
  "bare",
  "floor",
  "duties",
  "duties and Host",
  "kit, middleware",
  "kit, host",
  "OpenTelemetry",
];
const ROUNDS = Number(Deno.args[0] ?? 7);

await using stack = new AsyncDisposableStack();
const loads: Load[] = [];
for (const name of NAMES) {
  const file = new URL("http_server.ts", import.meta.url);
  const { base } = stack.use(await startServer(name, file, name));
  loads.push({ name, url: `${base}/` });
}
const rates = await measureInTurns(loads, ROUNDS);
printRates("Ten spans a request", rates, ["bare", "floor", "duties and Host"]);
