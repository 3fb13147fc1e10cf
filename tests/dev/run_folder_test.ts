/**
 * Runs that share a folder: bounds, damage, and several at the same time.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { createTracer, type Tracer } from "@quartet/kit/trace";
import { RunFolder } from "../../dev/runs/run_folder.ts";
import { startRuns } from "../../dev/runs/start.ts";
import type { Finding } from "../../trace/finding.ts";
import { routesOf } from "../../trace/http/access.ts";
import { segmentsIn } from "./books_app.ts";
import { type Folder, makeFolder } from "./dev_command.ts";

const LIMITS = { maxTraces: 5, maxSpansPerTrace: 100 };

/** A run in this process. */
interface Run extends AsyncDisposable {
  readonly tracer: Tracer;
  /** Returns the run and the names of each trace, oldest first. */
  list(): [run: number | undefined, names: string][];
  close(): Promise<void>;
}

/** Counts the starts, as the clock of all runs. */
let clock = 0;

async function start(
  folder: Folder,
  {
    fresh = false,
    entry = "main.ts",
    now = ++clock,
    onSlower = (_: Finding) => {},
  } = {},
): Promise<Run> {
  const tracer = createTracer(LIMITS);
  const runs = await startRuns(tracer, {
    cwd: folder.path,
    entry,
    fresh,
    limits: LIMITS,
    now: () => now,
    onSlower,
  });
  let closed: Promise<void> | undefined;
  const close = () => closed ??= runs.close();
  return {
    tracer,
    list: () =>
      tracer.getTraces().map(({ spans, metadata }) => [
        metadata.run,
        [...spans.values()].map(({ name }) => name).join(),
      ]),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Captures calls of `console.warn` until the end of the block. */
function captureWarnings() {
  const lines: string[] = [];
  const { warn } = console;
  console.warn = (line) => lines.push(line);
  return { lines, [Symbol.dispose]: () => void (console.warn = warn) };
}

/** Records a trace of one span in a run of its own. */
async function record(folder: Folder, ...names: string[]): Promise<number> {
  await using run = await start(folder);
  for (const name of names) run.tracer.withSpan(name, "custom", () => {});
  return clock;
}

Deno.test("Earlier traces fill the room that the present ones leave", async () => {
  await using folder = await makeFolder();
  const first = await record(folder, "a", "b", "c");
  const second = await record(folder, "d", "e", "f");
  await using run = await start(folder);
  const earlier: [number, string][] = [
    [first, "b"],
    [first, "c"],
    [second, "d"],
    [second, "e"],
    [second, "f"],
  ];
  assertEquals(run.list(), earlier);
  for (const name of ["1", "2", "3"]) {
    run.tracer.withSpan(name, "custom", () => {});
  }
  const present = ["1", "2", "3"].map((name) => [undefined, name]);
  assertEquals(run.list(), [...earlier.slice(3), ...present] as typeof earlier);
  for (const name of ["4", "5", "6"]) {
    run.tracer.withSpan(name, "custom", () => {});
  }
  assertEquals(run.list().map(([, name]) => name), ["2", "3", "4", "5", "6"]);
});

Deno.test("A trace that goes on after a restart belongs to the present run, with all its spans", async () => {
  await using folder = await makeFolder();
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  await using first = await start(folder);
  const root = first.tracer.startTrace("GET /", "request", { traceId });
  root.end();
  const page = {
    id: "00f067aa0ba902b7",
    parentId: root.id,
    layer: "islands",
    status: "ok",
    startTime: Date.now() + 100,
    endTime: Date.now() + 105,
    attributes: {},
    events: [],
  } as const;
  first.tracer.mergeClientSpans(traceId, [{ ...page, name: "hydrate" }]);
  first.tracer.mergeEvents([{
    traceId,
    spanId: root.id,
    event: { name: "log", time: Date.now() },
  }]);
  await first.close();

  await using second = await start(folder);
  assertEquals(second.list().map(([, names]) => names), ["GET /,hydrate"]);
  const before = second.tracer.getTrace(traceId)!;
  assert(before.metadata.run !== undefined);
  assertEquals(before.spans.get(root.id)!.events[0]!.name, "log");
  second.tracer.mergeClientSpans(traceId, [
    { ...page, id: "00f067aa0ba902b8", name: "late" },
  ]);
  const after = second.tracer.getTrace(traceId)!;
  assertEquals([after.spans.size, after.metadata.run], [3, undefined]);
  assertEquals(second.list().length, 1);
  await second.close();

  await using third = await start(folder);
  assertEquals(third.tracer.getTrace(traceId)!.spans.size, 3);
});

Deno.test("Several processes in one folder keep all their traces, also those that start at the same time", async () => {
  await using folder = await makeFolder();
  {
    await using one = await start(folder, { now: ++clock });
    await using two = await start(folder, { now: clock });
    await using other = await start(folder, { entry: "other.ts" });
    for (const [run, name] of [[one, "a"], [two, "b"], [other, "c"]] as const) {
      run.tracer.withSpan(name, "custom", () => {});
    }
    // One of them forgets the earlier runs while the others write.
    await one.close();
    await using fresh = await start(folder, { fresh: true });
    assertEquals(fresh.list(), []);
    one.tracer.withSpan("ignored", "custom", () => {});
  }
  await using main = await start(folder);
  assertEquals(main.list().map(([, name]) => name), ["b"]);
  await using other = await start(folder, { entry: "other.ts" });
  assertEquals(other.list().map(([, name]) => name), ["c"]);
});

Deno.test("The folder holds at most 20 segments, the latest ones", async () => {
  await using folder = await makeFolder();
  for (let i = 0; i < 23; i++) await record(folder, `${i}`);
  await using run = await start(folder);
  assertEquals((await segmentsIn(folder)).length, 20);
  assertEquals(run.list().at(-1)![1], "22");
});

const DAMAGES: readonly [string, (text: string) => string, RegExp][] = [
  ["isn't JSON", () => "{\n", /not JSON$/],
  ["has no header", () => '{"toString":1}\n', /quartet must be a finite/],
  ["has NULs of a power failure", () => "\0\0\n{}\n", /not JSON$/],
  ["has a wrong type", (text) => `${text}{"spans":[]}\n`, /must be an object/],
  [
    "has a damaged line in the middle",
    (text) => text.replace('\n{"spans', '\n{"spa\n{"spans'),
    /not JSON$/,
  ],
  [
    "has an id with markup",
    (text) => text.replaceAll(/"(id|rootSpanId)":"\w+"/g, '"$1":"<b>"'),
    /ids must be hex digits, received "<b>"$/,
  ],
  [
    "is larger than any that was written",
    (text) => text + " ".repeat(22 * 1024 * 1024),
    /it is too large$/,
  ],
];

for (const [what, damage, reason] of DAMAGES) {
  Deno.test(`A segment that ${what} is set aside with one line`, async () => {
    await using folder = await makeFolder();
    await record(folder, "a");
    const [path] = await segmentsIn(folder);
    await Deno.writeTextFile(path!, damage(await Deno.readTextFile(path!)));
    using warnings = captureWarnings();
    await record(folder, "kept");
    await using run = await start(folder);
    assertEquals(run.list().at(-1)![1], "kept");
    await run.close();
    assertMatch(warnings.lines.join("\n"), reason);
    assertMatch(
      warnings.lines.join("\n"),
      /^Renamed \.quartet\/(\S+) to \.quartet\/\1\.damaged: .*$/,
    );
    assertEquals((await segmentsIn(folder)).length, 1);
  });
}

Deno.test("A segment larger than the whole folder may be removes no other", async () => {
  await using folder = await makeFolder();
  await record(folder, "kept");
  const [kept] = await segmentsIn(folder);
  await record(folder, "damaged");
  const [path] = (await segmentsIn(folder)).filter((path) => path !== kept);
  await Deno.truncate(path!, 40 * 1024 * 1024);
  using warnings = captureWarnings();
  await using run = await start(folder);
  assertEquals(run.list().map(([, name]) => name), ["kept"]);
  assertMatch(warnings.lines.join("\n"), /^Renamed .* it is too large$/);
});

Deno.test("A damaged segment with many lines hides no other traces", async () => {
  await using folder = await makeFolder();
  for (const name of ["damaged", "kept"]) await record(folder, name);
  const [path] = await segmentsIn(folder);
  await Deno.writeTextFile(path!, "{\n".repeat(5_000));
  using warnings = captureWarnings();
  await using run = await start(folder);
  assertEquals(run.list().map(([, name]) => name), ["kept"]);
  await run.close();
  assertEquals(warnings.lines.length, 1);
});

Deno.test("Only the user can read what the folder keeps", async () => {
  await using folder = await makeFolder();
  // The first run makes the folder.
  await record(folder, "a");
  await record(folder, "b");
  const runs = new RunFolder(folder.path, "main.ts", (text) => {
    throw new Error(text);
  });
  // As a process that ends does.
  runs.appendNow(runs.pathOf(1, 0), "{}", "{}\n");
  const paths = await segmentsIn(folder);
  const modes = [runs.path, ...paths].map((path) =>
    (Deno.statSync(path).mode! & 0o777).toString(8)
  );
  assertEquals(modes, ["700", "600", "600", "600"]);
});

Deno.test("Several damaged segments are one line", async () => {
  await using folder = await makeFolder();
  for (const name of ["a", "b"]) await record(folder, name);
  for (const path of await segmentsIn(folder)) {
    await Deno.writeTextFile(path, "{\n");
  }
  using warnings = captureWarnings();
  await using run = await start(folder);
  assertEquals(run.list(), []);
  await run.close();
  assertEquals(warnings.lines.length, 1);
});

Deno.test("A line that a crash has cut is left out, and so is a segment of another version", async () => {
  await using folder = await makeFolder();
  const run = await record(folder, "a", "b");
  const [path] = await segmentsIn(folder);
  const text = await Deno.readTextFile(path!);
  using warnings = captureWarnings();
  await Deno.writeTextFile(path!, text.slice(0, -20));
  {
    await using next = await start(folder);
    assertEquals(next.list(), [[run, "a"]]);
  }
  await Deno.writeTextFile(path!, text.replace('"quartet":1', '"quartet":2'));
  await using next = await start(folder);
  assertEquals([next.list(), warnings.lines], [[], []]);
});

Deno.test("Nothing is written through a link, or to what isn't a folder", async () => {
  await using folder = await makeFolder();
  await using other = await makeFolder();
  await Deno.symlink(other.path, `${folder.path}/.quartet`);
  using warnings = captureWarnings();
  await record(folder, "a");
  assertMatch(
    warnings.lines.join("\n"),
    /^Renamed \.quartet to \.quartet\.damaged-[0-9a-f]{6}: it isn't a folder$/,
  );
  assertEquals(await Array.fromAsync(Deno.readDir(other.path)), []);
  assertEquals((await segmentsIn(folder)).length, 1);
});

Deno.test("A trace that can't be written is one line, and tracing goes on", async () => {
  await using folder = await makeFolder();
  using warnings = captureWarnings();
  await using run = await start(folder);
  // It was deleted, and something else is there.
  await folder.write(".quartet", "");
  for (const name of ["a", "b"]) run.tracer.withSpan(name, "custom", () => {});
  await run.close();
  assertEquals(run.list().length, 2);
  assertEquals(warnings.lines.length, 1);
  assertMatch(
    warnings.lines[0]!,
    /^Traces aren't kept for the next start: /,
  );
});

Deno.test("A folder that was deleted is made again, and so is its .gitignore", async () => {
  await using folder = await makeFolder();
  await record(folder, "a");
  await using run = await start(folder);
  await Deno.remove(`${folder.path}/.quartet`, { recursive: true });
  run.tracer.withSpan("b", "custom", () => {});
  await run.close();
  await using next = await start(folder);
  assertEquals(next.list().map(([, name]) => name), ["b"]);

  const ignored = `${folder.path}/.quartet/.gitignore`;
  await Deno.remove(ignored);
  await record(folder, "c");
  assertEquals(await Deno.readTextFile(ignored), "*\n");
});

/** Records a request with a number of queries. */
function request(tracer: Tracer, path: string, queries: number): void {
  const root = tracer.startTrace(`GET ${path}`, "request", {
    attributes: {
      "http.request.method": "GET",
      "url.path": path,
      "http.response.status_code": 200,
    },
  });
  for (let i = 0; i < queries; i++) {
    root.child("db.query", "database", { "db.query.text": "SELECT 1" }).end();
  }
  root.end();
}

Deno.test("A slower route is reported once, with all files that were saved since the run that had it", async () => {
  await using folder = await makeFolder();
  await folder.write("a.ts", "1");
  const visit = async (path: string, queries: number) => {
    await using run = await start(folder);
    request(run.tracer, path, queries);
  };
  await visit("/", 1);
  await folder.write("a.ts", "22");
  await visit("/other", 1);
  await folder.write("b.ts", "22");
  const { promise, resolve } = Promise.withResolvers<Finding>();
  let count = 0;
  await using run = await start(folder, {
    onSlower(finding) {
      count++;
      resolve(finding);
    },
  });
  request(run.tracer, "/", 20);
  const { rule, message, route, traceId, spanIds } = await promise;
  assertEquals([rule, route], ["slower-route", "GET /"]);
  assertMatch(
    message,
    /^GET \/: 1 → 20 queries(, .* ms)? since you saved (b\.ts and a|a\.ts and b)\.ts$/,
  );
  const trace = run.tracer.getTrace(traceId)!;
  assertEquals(spanIds.map((id) => trace.spans.get(id)!.layer), [
    ...Array(20).fill("database"),
  ]);
  request(run.tracer, "/", 20);
  const [present, ...earlier] = await comparedRuns(run.tracer, 2);
  assertEquals(
    [present!, ...earlier].map(({ changed }) => changed),
    [["b.ts"], ["a.ts"], []],
  );
  assertEquals(present!.comparisons[0]!.verdict, "slower");
  assertEquals(count, 1);
});

Deno.test("Without a saved file, no route is slower", async () => {
  await using folder = await makeFolder();
  for (const queries of [1, 20]) {
    await using run = await start(folder);
    request(run.tracer, "/", queries);
    if (queries === 1) continue;
    const [present] = await comparedRuns(run.tracer, 1);
    const { verdict, difference } = present!.comparisons[0]!;
    assertEquals([verdict, difference], ["same", ""]);
  }
});

/** A run, as the API returns it. */
interface RunRecord {
  readonly changed: readonly string[];
  readonly comparisons: readonly {
    readonly verdict: string;
    readonly difference: string;
    readonly after: { readonly requests: number };
  }[];
}

/** Returns the runs, once a number of requests of a route were compared. */
async function comparedRuns(
  tracer: Tracer,
  requests: number,
): Promise<RunRecord[]> {
  const url = "http://localhost/__app/traces/runs";
  for (;;) {
    const response = await routesOf(tracer).get("/runs")!(
      new Request(url),
      undefined,
    );
    const { runs }: { runs: RunRecord[] } = await response.json();
    if (runs[0]!.comparisons[0]?.after.requests === requests) return runs;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
