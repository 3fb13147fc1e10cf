/**
 * Bundles the tests of the modules for Node and Bun.
 *
 * A bundle contains a test and its helpers. It imports the installed package,
 * which is what the tests check. `Deno` is replaced by an object of the runner,
 * as there is no such global.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../helpers.ts";
import { pinOf } from "./pins.ts";

/** Modules whose tests are run. */
export const MODULES = ["auth", "trace", "rpc", "data"] as const;

/** Packages that tests may import besides the kit. */
export const PACKAGES = [
  "@hono/node-server",
  "@std/assert",
  "@tanstack/query-core",
  "arktype",
  "devalue",
  "hono",
  "jose",
  "superjson",
  "valibot",
  "ws",
  "zod",
] as const;

/** A bundled test file. */
export interface Suite {
  /** Its path relative to the root. */
  readonly path: string;
  readonly bundle: string;
}

/** Bundled suites, and skipped files with the reason. */
export interface Suites {
  /** The program that runs them. */
  readonly runner: string;
  readonly suites: readonly Suite[];
  readonly leftOut: ReadonlyMap<string, string>;
}

const root = fileURLToPath(ROOT);
const here = fileURLToPath(new URL(".", import.meta.url));

/** The runner, and its replacement for the kit's host. */
const KIT_APP = join(here, "runner", "kit_app.ts");
const RUNNER = [join(here, "runner", "main.ts"), KIT_APP];

/** Returns the path of a file's bundle, relative to the output folder. */
export function bundled(path: string): string {
  return relative(root, path).replace(/\.ts$/, ".mjs");
}

/** Bundles all tests of the modules into a project. */
export async function bundleSuites(project: string): Promise<Suites> {
  const paths = (await Promise.all(
    MODULES.map((name) => findTests(join(root, "tests", name))),
  )).flat().sort();
  const leftOut = new Map<string, string>();
  const outdir = join(project, "suites");
  const [{ metafile }] = await Promise.all([
    bundle(paths, outdir, project),
    // In a build of its own: it must be loaded before the tests.
    bundle(RUNNER, outdir, project),
  ]);
  const suites: Suite[] = [];
  for (const [output, { entryPoint }] of outputsOf(metafile)) {
    const path = relative(root, join(root, entryPoint));
    const foreign = foreignOf(output, metafile);
    if (foreign === undefined) {
      suites.push({ path, bundle: join(root, output) });
    } else {
      leftOut.set(path, foreign.replace("not-installed:", "needs "));
    }
  }
  return { runner: join(outdir, bundled(RUNNER[0]!)), suites, leftOut };
}

/**
 * Bundles programs for Node and Bun. `project` is the folder where the package
 * is installed.
 */
export async function bundle(
  entryPoints: readonly string[],
  outdir: string,
  project: string,
): Promise<esbuild.BuildResult<{ metafile: true }>> {
  return await esbuild.build({
    entryPoints: [...entryPoints],
    absWorkingDir: root,
    outdir,
    outbase: root,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node22",
    logLevel: "error",
    define: {
      Deno: "globalThis.denoOfTests",
      addEventListener: "globalThis.addEventListenerOfTests",
      removeEventListener: "globalThis.removeEventListenerOfTests",
    },
    // Node 22 lacks these methods, and only tests may use them.
    mangleProps: /^(to|from)(Hex|Base64)$/,
    mangleCache: {
      toHex: "toHexOfTests",
      toBase64: "toBase64OfTests",
      fromHex: "fromHexOfTests",
      fromBase64: "fromBase64OfTests",
    },
    plugins: [externals(project)],
    tsconfigRaw: {},
  });
}

/** Marks the package and other dependencies as external. */
function externals(project: string): esbuild.Plugin {
  const product = new RegExp(
    `^(app|${MODULES.join("|")}|viewer/dist)/|^(mod|dev)\\.ts$`,
  );
  return {
    name: "externals",
    setup(build) {
      build.onResolve(
        { filter: /^@quartet\/kit(\/|$)/ },
        ({ path, importer }) =>
          path === "@quartet/kit/app" && !importer.startsWith(here)
            ? {
              path: join(project, "suites", bundled(KIT_APP)),
              external: true,
            }
            : { path, external: true },
      );
      // Some tests import a file whose exports no single entry point has.
      build.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
        const target = relative(root, join(resolveDir, path));
        if (!product.test(target)) return undefined;
        const file = target.replace(/\.ts$/, ".js");
        return {
          path: join(project, "node_modules", "@quartet", "kit", file),
          external: true,
        };
      });
      build.onResolve({ filter: /^(@[a-z]|[a-z])[^:]*$/ }, ({ path }) => {
        if (PACKAGES.some((it) => path === it || path.startsWith(`${it}/`))) {
          return { path: pinOf(path)!.specifier, external: true };
        }
        return { path: `not-installed:${path}`, external: true };
      });
    },
  };
}

/** Returns the missing imports of a bundle and of the chunks it shares. */
function foreignOf(
  output: string,
  { outputs }: esbuild.Metafile,
  seen = new Set<string>(),
): string | undefined {
  if (output.startsWith("not-installed:")) return output;
  if (seen.has(output)) return undefined;
  seen.add(output);
  for (const { path } of outputs[output]?.imports ?? []) {
    const found = foreignOf(path, { inputs: {}, outputs }, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

function* outputsOf(
  { outputs }: esbuild.Metafile,
): Generator<
  [string, esbuild.Metafile["outputs"][string] & { entryPoint: string }]
> {
  for (const [path, output] of Object.entries(outputs)) {
    const { entryPoint } = output;
    if (entryPoint !== undefined) yield [path, { ...output, entryPoint }];
  }
}

async function findTests(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) found.push(...await findTests(path));
    else if (name.endsWith("_test.ts")) found.push(path);
  }
  return found;
}
