// Bundles the page's script in memory, at the first request for it.

import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";

let script: Promise<string> | undefined;

/** Returns the script of the pages. */
export function pageScript(): Promise<string> {
  return script ??= bundle();
}

async function bundle(): Promise<string> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [fileURLToPath(import.meta.resolve("./browser.tsx"))],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [{ name: "deno", setup: resolveAsDenoDoes }],
  });
  // Otherwise esbuild's process keeps running.
  await esbuild.stop();
  return outputFiles[0]!.text;
}

/** Resolves `preact` and `@quartet/kit` by the imports of `deno.json`. */
function resolveAsDenoDoes(build: esbuild.PluginBuild): void {
  build.onResolve({ filter: /^[@a-z]/ }, ({ path }) => ({
    path: fileURLToPath(import.meta.resolve(path)),
  }));
}
