/**
 * Measures cold imports: the time of a process that imports an entry point and
 * ends, less the time of one that runs an empty script.
 *
 * Each import is a new `deno run --cached-only` without type check. Deno's code
 * cache is on, as by default. Two uncounted rounds fill it.
 *
 * Run it with `deno task bench app/imports`. Arguments of the file: the number
 * of rounds (default 15), and the root of another checkout to compare with, as
 * in `deno task bench app/imports -- 15 /path/to/other`.
 *
 * @module
 */

import map from "../../import_map.json" with { type: "json" };
import { ROOT } from "../packages.ts";

/** A script that imports at most one module. */
interface Script {
  readonly root: string;
  readonly path: string;
  /** Milliseconds from the start of the process to its end. */
  readonly times: number[];
}

/** The scripts of a checkout by the module they import. */
type Scripts = ReadonlyMap<string, Script>;

const EMPTY = "an empty script";
const HONO = "Hono";
const [rounds = "15", other] = Deno.args;

const folder = await Deno.makeTempDir();
try {
  const here = await writeScripts(await Deno.realPath(ROOT), "here");
  const there = other === undefined
    ? undefined
    : await writeScripts(await Deno.realPath(other), "there");
  // The two checkouts take turns for each entry point.
  const all = Array.from(here, ([name, script]) => [script, there?.get(name)])
    .flat().filter((script) => script !== undefined);
  for (let round = -2; round < Number(rounds); round++) {
    for (const script of all) {
      const time = await run(script);
      if (round >= 0) script.times.push(time);
    }
  }
  await print(here, there);
} finally {
  await Deno.remove(folder, { recursive: true });
}

async function writeScripts(root: string, name: string): Promise<Scripts> {
  const config = JSON.parse(await Deno.readTextFile(`${root}/deno.json`));
  const imports: [string, string | undefined][] = [[EMPTY, undefined]];
  imports.push([HONO, map.imports.hono]);
  for (const [key, path] of Object.entries<string>(config.exports)) {
    imports.push([`${config.name}${key.slice(1)}`, `${root}/${path}`]);
  }
  const scripts = new Map<string, Script>();
  for (const [imported, specifier] of imports) {
    const path = `${folder}/${name}_${scripts.size}.ts`;
    const code = specifier && `import ${JSON.stringify(specifier)};\n`;
    await Deno.writeTextFile(path, code ?? "");
    scripts.set(imported, { root, path, times: [] });
  }
  return scripts;
}

async function run({ root, path }: Script): Promise<number> {
  const begin = performance.now();
  await deno(root, "run", "-A", "--cached-only", "--no-check", path);
  return performance.now() - begin;
}

/** Runs Deno with the settings and the locked packages of a checkout. */
async function deno(
  root: string,
  command: string,
  ...args: readonly string[]
): Promise<string> {
  const config = [
    "--config",
    `${root}/deno.json`,
    `--lock=${root}/deno.lock`,
    "--frozen",
  ];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [command, ...config, ...args],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier: string };
    readonly isDynamic?: boolean;
  }[];
}

/** Returns what an import loads: files, npm packages and Node modules. */
async function findModules({ root, path }: Script) {
  const { modules, roots }: { modules: Module[]; roots: string[] } = JSON.parse(
    await deno(root, "info", "--json", path),
  );
  const bySpecifier = new Map(modules.map((module) => [
    module.specifier,
    module,
  ]));
  const loaded = new Set(roots);
  // Iterating a set also visits modules that the loop adds.
  for (const specifier of loaded) {
    for (
      const { code, isDynamic } of bySpecifier.get(specifier)?.dependencies ??
        []
    ) {
      if (code !== undefined && !isDynamic) loaded.add(code.specifier);
    }
  }
  const find = (scheme: string) =>
    [...loaded].filter((specifier) => specifier.startsWith(scheme));
  return {
    files: find("file:").length - 1,
    packages: find("npm:").length,
    builtins: find("node:").map((name) => name.slice(5)).sort().join(" "),
  };
}

async function print(here: Scripts, there: Scripts | undefined): Promise<void> {
  const width = Math.max(...[...here.keys()].map(({ length }) => length));
  const empty = Math.min(...here.get(EMPTY)!.times);
  console.log(
    `\nCold imports: ms above an empty script, which takes ${
      empty.toFixed(0)
    } ms`,
  );
  console.log(
    `  ${"".padEnd(width)}     ms  / empty  / Hono  files  npm  ${
      there ? "/ other  its files  " : ""
    }node:`,
  );
  for (const [name, script] of here) {
    if (name === EMPTY) continue;
    const time = timeAbove(here, script);
    const { files, packages, builtins } = await findModules(script);
    const cells = [
      time.toFixed(1).padStart(5),
      (Math.min(...script.times) / empty).toFixed(2).padStart(7),
      (time / timeAbove(here, here.get(HONO)!)).toFixed(1).padStart(6),
      String(files).padStart(5),
      String(packages).padStart(3),
    ];
    if (there !== undefined) {
      const twin = there.get(name);
      const theirs = twin === undefined ? 0 : timeAbove(there, twin);
      // A ratio to a smaller time would be noise.
      const ratio = theirs < 3 ? undefined : (time / theirs).toFixed(2);
      const files = twin && String((await findModules(twin)).files);
      cells.push((ratio ?? "-").padStart(7), (files ?? "-").padStart(9));
    }
    cells.push(builtins);
    console.log(`  ${name.padEnd(width)}  ${cells.join("  ")}`);
  }
}

/**
 * Returns the time of a script less the time of the empty one. It compares the
 * fastest rounds, because other work on the machine only adds time. Their
 * spread is less than half of the medians' spread.
 */
function timeAbove(scripts: Scripts, { times }: Script): number {
  return Math.min(...times) - Math.min(...scripts.get(EMPTY)!.times);
}
