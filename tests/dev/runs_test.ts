/**
 * Processes of the dev command in one folder, one after another.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import type { SerializedTrace } from "@quartet/kit/trace";
import { type Child, exchange } from "../helpers.ts";
import { booksApp, hasKept, saveBooks, segmentsIn } from "./books_app.ts";
import { addressOf, makeFolder, startDev, visit } from "./dev_command.ts";

const ARGS = ["main.ts", "--port", "0", "--trace"];

async function ask(url: URL, query: string) {
  const response = await fetch(new URL(`/__app/traces/${query}`, url));
  return await response.json();
}

/** Returns the id and run of each trace of the API. */
async function list(url: URL, query = ""): Promise<[string, number?][]> {
  const { traces, total } = await ask(url, `api?${query}`);
  assertEquals(traces.length, total);
  return traces.map(({ id, metadata }: SerializedTrace) =>
    metadata.run === undefined ? [id] : [id, metadata.run]
  );
}

/** Ends a process without any chance to write. */
async function crash(child: Child): Promise<void> {
  child.kill("SIGKILL");
  await child.code;
}

Deno.test("dev --trace lists the traces of a killed process after its own, says what a saved file made slower, and forgets with --fresh", async () => {
  await using folder = await makeFolder();
  await booksApp(folder, 12);
  await using first = startDev(ARGS, folder);
  const old = await visit(await addressOf(first), "/books");
  const segment = await hasKept(folder, old);
  await crash(first);
  // Also if the crash has cut a line.
  await Deno.writeTextFile(segment, '{"spans":{"id":"4b', { append: true });
  assertEquals(
    await Deno.readTextFile(`${folder.path}/.quartet/.gitignore`),
    "*\n",
  );
  if (Deno.build.os !== "windows") {
    // Other users of the machine can't read the traces.
    assertEquals((await Deno.stat(segment)).mode! & 0o777, 0o600);
  }

  await saveBooks(folder, 72);
  await using second = startDev([...ARGS, "--export", "out.html"], folder);
  const url = await addressOf(second);
  const run = Number(/(\d+)-\w+-\w+\.\d+\.jsonl$/.exec(segment)![1]);
  assertEquals(await list(url), [[old, run]]);
  const id = await visit(url, "/books");
  assertEquals(await list(url), [[id], [old, run]]);
  assertEquals(await list(url, "run=present"), [[id]]);
  assertEquals(await list(url, `run=${run}`), [[old, run]]);
  assertEquals((await ask(url, `api?id=${old}`)).spans.length, 15);
  assertMatch((await ask(url, "api?run=all")).error.message, /^run must be /);

  const [line] = await second.printed(/^ +! GET \/books: .*$/m);
  assertMatch(
    line,
    /^ +! GET \/books: 12 → 72 queries(?:, [\d.]+ → [\d.]+ ms)? since you saved posts\.ts main\.ts:7$/,
  );
  const { runs } = await ask(url, "runs");
  assertEquals(runs.length, 2);
  assertEquals([runs[0].changed, runs[1].start], [["posts.ts"], run]);
  const [{ route, verdict, before, after }] = runs[0].comparisons;
  assertEquals([route, verdict], ["GET /books", "slower"]);
  assertEquals([before.queries, after.queries], [12, 72]);
  assertEquals([before.traceId, after.traceId], [old, id]);
  const refused = await exchange(
    Number(url.port),
    "GET /__app/traces/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
  );
  assertStringIncludes(refused, "403 Forbidden");
  const posted = await fetch(new URL("/__app/traces/runs", url), {
    method: "POST",
  });
  await posted.body?.cancel();
  assertEquals(posted.status, 405);

  second.kill("SIGINT");
  assertEquals([await second.code, second.stderr], [0, ""]);
  assertMatch(second.stdout, /^Wrote 1 trace to out\.html$/m);
  assertEquals((await segmentsIn(folder)).length, 2);

  await using third = startDev([...ARGS, "--fresh"], folder);
  assertEquals(await list(await addressOf(third)), []);
  assertEquals(await segmentsIn(folder), []);
});

Deno.test("dev --trace names the causes of a process that fails, and keeps its last trace", async () => {
  await using folder = await makeFolder();
  await folder.write(
    "main.ts",
    `export default { fetch() {
      setTimeout(() => Promise.reject(new Error("no mail")), 50);
      throw new Error("no books");
    } };`,
  );
  await using first = startDev(ARGS, folder);
  const id = await visit(await addressOf(first), "/books");
  assertEquals(await first.code, 1);
  assertMatch(
    first.stdout,
    /^ +! Error: no books main\.ts:3 \(GET \/books\)$/m,
  );
  assertMatch(first.stdout, /^ +! Error: no mail main\.ts:2 \(GET \/books\)$/m);

  await using second = startDev(ARGS, folder);
  const [[kept] = [], ...others] = await list(await addressOf(second));
  assertEquals([kept, others], [id, []]);
});

Deno.test("dev --trace sets a damaged .quartet aside with one line, and serves", async () => {
  await using folder = await makeFolder();
  await booksApp(folder, 1);
  await folder.write(".quartet", "not a folder");
  await using child = startDev(ARGS, folder);
  const url = await addressOf(child);
  const id = await visit(url, "/books");
  await hasKept(folder, id);
  assertEquals(await list(url), [[id]]);
  assertMatch(
    child.stderr,
    /^Renamed \.quartet to \.quartet\.damaged-[0-9a-f]{6}: it isn't a folder\n$/,
  );
});

Deno.test("dev --trace says in one line that Deno doesn't allow to keep traces, and serves", async () => {
  await using folder = await makeFolder();
  await booksApp(folder, 1);
  await using child = startDev(ARGS, folder, [
    "--no-prompt",
    "--allow-net",
    "--allow-read",
  ]);
  const url = await addressOf(child);
  const id = await visit(url, "/books");
  assertEquals(await list(url), [[id]]);
  assert((await ask(url, "runs")).runs.length === 1);
  assertEquals(
    child.stdout.match(/^.*kept.*$/gm),
    ["Traces aren't kept for the next start without --allow-write"],
  );
  assertEquals(await segmentsIn(folder), []);
});
