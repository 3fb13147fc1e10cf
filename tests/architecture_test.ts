/**
 * The arrows between the folders, read from the module graph.
 *
 * ```
 * mod.ts  →  auth, trace, rpc, data  →  core
 *    │                ↓                  ↑
 *    │       viewer/dist/page.ts         │
 *    └─────────────►  app  ──────────────┘
 *                      ↑
 *                 dev, dev.ts
 * ```
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import config from "../deno.json" with { type: "json" };
import { exists, ROOT, startDeno } from "./helpers.ts";
import { readSources, TOPS } from "./sources.ts";

/** One file that imports another. Paths are relative to the root. */
interface Edge {
  readonly from: string;
  readonly to: string;
  /** Whether the import exists at run time, not only for types. */
  readonly runs: boolean;
  /** Whether it is an `import()`. */
  readonly dynamic: boolean;
}

/** The part of the output of `deno info --json` that the tests use. */
interface Info {
  readonly modules: readonly {
    readonly specifier: string;
    readonly error?: string;
    readonly dependencies?: readonly {
      readonly code?: { readonly specifier?: string };
      readonly type?: { readonly specifier?: string };
      readonly isDynamic?: boolean;
    }[];
  }[];
}

const MODULES = ["auth", "trace", "rpc", "data"];
/** The entry of the viewer, and the built page that the server serves. */
const VIEWER_ENTRY = "viewer/main.tsx";
const VIEWER_PAGE = "viewer/dist/page.ts";

/** Returns the imports of several entry points without duplicates. */
async function edgesOfAll(entries: readonly string[]): Promise<Edge[]> {
  const edges = new Map<string, Edge>();
  for (const entry of entries) {
    for (const edge of await edgesOf(entry)) {
      edges.set(JSON.stringify(edge), edge);
    }
  }
  return [...edges.values()];
}

async function edgesOf(entry: string): Promise<Edge[]> {
  await using child = startDeno(["info", "--json", entry]);
  assertEquals(await child.code, 0, child.stderr);
  const { modules } = JSON.parse(child.stdout) as Info;
  const edges: Edge[] = [];
  for (const { specifier, error, dependencies = [] } of modules) {
    const from = pathOf(specifier);
    if (from === undefined) continue;
    // The page is a build output, so it may be missing.
    assert(error === undefined || from === VIEWER_PAGE, error);
    for (const { code, type, isDynamic = false } of dependencies) {
      for (const [target, runs] of [[code, true], [type, false]] as const) {
        const to = pathOf(target?.specifier);
        if (to !== undefined) {
          edges.push({ from, to, runs, dynamic: isDynamic });
        }
      }
    }
  }
  return edges;
}

/** Returns the path below the root, or `undefined` for an external module. */
function pathOf(specifier: string | undefined): string | undefined {
  return specifier?.startsWith(ROOT.href)
    ? decodeURIComponent(specifier.slice(ROOT.href.length))
    : undefined;
}

const folderOf = (path: string) => path.split("/", 1)[0]!;
const show = ({ from, to }: Edge) => `${from} → ${to}`;

const server = await edgesOfAll(Object.values<string>(config.exports));
const viewer = await exists(VIEWER_ENTRY) ? await edgesOf(VIEWER_ENTRY) : [];
const all = [...server, ...viewer];

Deno.test("The module graph includes app, core and all modules", async () => {
  const folders = new Set(server.map(({ from }) => folderOf(from)));
  const present: string[] = ["app", "core"];
  for (const name of MODULES) {
    if (await exists(`${name}/mod.ts`)) present.push(name);
  }
  assert(present.includes("trace"));
  assertEquals(present.filter((name) => !folders.has(name)), []);
});

Deno.test("Modules don't import each other", () => {
  const wrong = all.filter(({ from, to }) =>
    MODULES.includes(folderOf(from)) && MODULES.includes(folderOf(to)) &&
    folderOf(from) !== folderOf(to)
  );
  assertEquals(wrong.map(show), []);
});

Deno.test("core imports only itself", () => {
  const wrong = all.filter(({ from, to }) =>
    folderOf(from) === "core" && folderOf(to) !== "core"
  );
  assertEquals(wrong.map(show), []);
});

Deno.test("app imports only core", () => {
  const wrong = all.filter(({ from, to }) =>
    folderOf(from) === "app" && !["app", "core"].includes(folderOf(to))
  );
  assertEquals(wrong.map(show), []);
});

Deno.test("Modules import only core; trace may also import the viewer's page", () => {
  const wrong = all.filter(({ from, to }) => {
    const folder = folderOf(from);
    return MODULES.includes(folder) && folderOf(to) !== folder &&
      folderOf(to) !== "core" && !(folder === "trace" && to === VIEWER_PAGE);
  });
  assertEquals(wrong.map(show), []);
});

Deno.test("Nothing imports mod.ts, dev.ts or the dev command", () => {
  const wrong = all.filter(({ from, to }) =>
    TOPS.includes(to) ||
    (folderOf(to) === "dev" && folderOf(from) !== "dev" && from !== "dev.ts")
  );
  assertEquals(wrong.map(show), []);
});

Deno.test("The viewer imports from the server only records and their formats", () => {
  const allowed = [
    "trace/types.ts",
    "trace/finding.ts",
    "trace/serialize.ts",
  ];
  const wrong = viewer.filter(({ from, to }) =>
    folderOf(from) === "viewer" && folderOf(to) !== "viewer" &&
    !allowed.includes(to) && !to.startsWith("trace/export/") &&
    !to.startsWith("core/")
  );
  assertEquals(wrong.map(show), []);
});

Deno.test("The viewer runs no code that needs a server", () => {
  const reached = reach([VIEWER_ENTRY], viewer.filter(({ runs }) => runs));
  const wrong = [...reached].filter((path) =>
    ["app", "dev"].includes(folderOf(path)) ||
    /^trace\/(http|live|record)\/|^core\/(socket|http|runtime)\//.test(path)
  );
  assertEquals(wrong, []);
});

Deno.test("The dev command loads the tracer only with --trace", () => {
  const edges = server.filter(({ runs, dynamic }) => runs && !dynamic);
  // The command loads the second one once it knows the version of Node.
  const reached = reach(["dev.ts", "dev/run.ts"], edges);
  assert(reached.has("app/serve.ts"));
  assertEquals([...reached].filter((path) => folderOf(path) === "trace"), []);
  assertEquals(
    [...reach(["dev.ts"], server)].includes("trace/record/tracer.ts"),
    true,
    "with --trace it does",
  );
});

Deno.test("Importing a shared cache store doesn't load the encoding of records", () => {
  const edges = server.filter(({ runs, dynamic }) => runs && !dynamic);
  for (const name of ["./data/kv", "./data/redis"] as const) {
    const reached = reach([config.exports[name].slice(2)], edges);
    assert(reached.has("data/shared/shared_store.ts"));
    assert(!reached.has("data/shared/record_text.ts"), name);
  }
});

Deno.test("Only tests load the checks of traces, which need no viewer", () => {
  const isCheck = (path: string) => path.startsWith("trace/testing");
  const wrong = all.filter(({ from, to }) => isCheck(to) && !isCheck(from));
  assertEquals(wrong.map(show), []);
  const reached = reach([config.exports["./trace/testing"].slice(2)], server);
  assert(reached.has("trace/record/tracer.ts"));
  const more = [...reached].filter((path) => !/^(core|trace)\//.test(path));
  assertEquals(more, []);
});

/** Returns all files that these files import, directly or indirectly. */
function reach(from: readonly string[], edges: readonly Edge[]): Set<string> {
  const reached = new Set(from);
  // Iterating a set also visits paths that the loop adds.
  for (const path of reached) {
    for (const edge of edges) if (edge.from === path) reached.add(edge.to);
  }
  return reached;
}

Deno.test("No imports are circular", () => {
  // Type-only imports count too: circular types are as hard to read.
  const imports = Map.groupBy(all, ({ from }) => from);
  const done = new Set<string>();
  const open: string[] = [];

  for (const path of imports.keys()) visit(path);

  function visit(path: string): void {
    const start = open.indexOf(path);
    assert(start === -1, `${[...open.slice(start), path].join(" → ")}`);
    if (done.has(path)) return;
    open.push(path);
    for (const { to } of imports.get(path) ?? []) visit(to);
    open.pop();
    done.add(path);
  }
});

Deno.test("Every mod.ts only re-exports", async () => {
  const files = ["mod.ts"];
  for await (const path of modFiles(ROOT)) files.push(path);
  assert(files.includes("app/mod.ts"));
  for (const path of files) {
    const text = await Deno.readTextFile(new URL(path, ROOT));
    const rest = text
      .replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "")
      .replaceAll(/export\s+(type\s+)?(\{[^}]*\}|\*)\s*from\s*"[^"]+";/g, "");
    assertEquals(rest.trim(), "", path);
  }
});

async function* modFiles(folder: URL, below = ""): AsyncGenerator<string> {
  for await (
    const { name, isDirectory } of Deno.readDir(new URL(`${folder}/`, ROOT))
  ) {
    if (isDirectory && !/^\.|^node_modules$|^dist$|^tests$/.test(name)) {
      yield* modFiles(new URL(`${name}/`, folder), `${below}${name}/`);
    } else if (name === "mod.ts" && below !== "") yield below + name;
  }
}

const MAX_FILE_LINES = 300;
const MEDIAN_FILE_LINES = [60, 130] as const;
const MAX_CODE_LINES = 45_600;

/** Counts the lines that are neither blank nor comments. */
function countCode(lines: readonly string[]): number {
  let count = 0;
  let isInComment = false;
  for (const line of lines) {
    const text = line.trim();
    if (isInComment) isInComment = !text.includes("*/");
    else if (text.startsWith("/*")) isInComment = !text.includes("*/");
    else if (text !== "" && !text.startsWith("//")) count++;
  }
  return count;
}

Deno.test("Source files have at most 300 lines", async () => {
  const sources = [...await readSources()];
  const long = sources.filter(([, { length }]) => length > MAX_FILE_LINES);
  assertEquals(long.map(([path, { length }]) => `${path}: ${length}`), []);
  const lengths = sources.map(([, { length }]) => length)
    .toSorted((a, b) => a - b);
  const median = lengths[Math.floor(lengths.length / 2)]!;
  const [least, most] = MEDIAN_FILE_LINES;
  assert(median >= least && median <= most, `the median is ${median}`);
});

Deno.test("The source stays below its maximum size", async () => {
  const sources = await readSources();
  let count = 0;
  for (const lines of sources.values()) count += countCode(lines);
  assert(count <= MAX_CODE_LINES, `it has ${count} lines of code`);
});
