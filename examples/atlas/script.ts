// Bundles what runs in the browser, in memory, when it is first asked for.

import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";

let script: Promise<string> | undefined;

/** The script of the pages. */
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
  // It leaves a process behind, which is not needed again.
  await esbuild.stop();
  return outputFiles[0]!.text;
}

/** Finds `preact` and `@quartet/kit`, as `deno.json` names them. */
function resolveAsDenoDoes(build: esbuild.PluginBuild): void {
  build.onResolve({ filter: /^[@a-z]/ }, ({ path }) => ({
    path: fileURLToPath(import.meta.resolve(path)),
  }));
}
