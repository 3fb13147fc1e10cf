/**
 * Measures the host's throughput over HTTP, compared with bare `Deno.serve`,
 * the floor, Hono and Elysia. Needs `wrk` on the PATH.
 *
 * Run it with `deno task bench app/http`. Arguments of the file: the number of
 * rounds (default 7), and the cases (default: all).
 *
 * @module
 */

import { printRates, ratioOf } from "../compare.ts";
import { type BenchServer, measureInTurns, startServer } from "../wrk.ts";
import type { Case } from "./case.ts";
import { CASES } from "./cases.ts";

const [rounds = "7", ...wanted] = Deno.args;
const names = wanted.length > 0 ? wanted : Object.keys(CASES);
for (const name of names) await measureCase(name, await CASES[name]!());

async function measureCase(name: string, measured: Case): Promise<void> {
  const { title, candidates, path, cookie, target } = measured;
  await using stack = new AsyncDisposableStack();
  const servers: BenchServer[] = [];
  for (const candidate of Object.keys(candidates)) {
    const file = new URL("http_server.ts", import.meta.url);
    servers.push(
      stack.use(await startServer(candidate, file, name, candidate)),
    );
  }
  const loads = servers.map(({ name, base }) => ({
    name,
    url: base + (typeof path === "string" ? path : path(name)),
    args: cookie === undefined ? [] : ["-H", `cookie: ${cookie}`],
  }));
  await checkAnswers(loads, cookie);
  const rates = await measureInTurns(loads, Number(rounds));
  const references = ["bare", "handler alone", "floor", "Hono"];
  printRates(title, rates, references.filter((name) => rates.has(name)));
  const [to, atLeast] = target;
  const ratio = ratioOf(rates.get("@quartet/kit")!, rates.get(to)!);
  console.log(`  kit / ${to}: ${ratio.toFixed(2)}, target ${atLeast}`);
}

/** Throws if the servers answer differently, with or without the cookie. */
async function checkAnswers(
  loads: readonly { readonly name: string; readonly url: string }[],
  cookie: string | undefined,
): Promise<void> {
  const answers = new Map<string, string>();
  for (const { name, url } of loads) {
    const response = await fetch(url, cookie ? { headers: { cookie } } : {});
    const text = await response.text();
    // The kit's RPC responses have an envelope.
    const value = /^{"ok":true,"data":(.*)}$/.exec(text)?.[1] ?? text;
    const anonymous = await fetch(url);
    await anonymous.body?.cancel();
    answers.set(name, `${response.status} ${value}, ${anonymous.status}`);
  }
  if (new Set(answers.values()).size === 1) return;
  const list = Array.from(answers, (entry) => entry.join(": ")).join("\n");
  throw new Error(`Cannot compare: the answers differ:\n${list}`);
}
