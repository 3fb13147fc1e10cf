/**
 * Builds the viewer into one file that loads nothing from elsewhere,
 * `viewer/dist/index.html`, and into a module that exports it as text,
 * `viewer/dist/page.ts`. The panel of the dev command becomes such a module too.
 * The same sources give the same bytes.
 *
 * `deno task build` writes the files. With `--check`, it exits with 1 if the
 * files are out of date.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { gzip } from "../trace/export/gzip.ts";

const here = import.meta.dirname!;
const root = dirname(here);

/** Bars of a waterfall, in a data URL: the page loads nothing. */
const icon = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
    '<path fill="#346acd" d="M1 2h11v3H1z"/>' +
    '<path fill="#d37cc9" d="M4 6.5h7v3H4z"/>' +
    '<path fill="#5e8f00" d="M9 11h6v3H9z"/></svg>',
);

/**
 * Returns the page. The traces come after the script, which can list them while
 * the browser still reads them.
 */
async function buildPage(): Promise<string> {
  const [style, script] = await Promise.all([
    bundle("styles.css"),
    bundle("main.tsx"),
  ]);
  const policy = [
    "default-src 'none'",
    `script-src '${await hashSource(script)}'`,
    `style-src '${await hashSource(style)}'`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Traces</title>
<link rel="icon" id="viewer-icon" href="data:image/svg+xml,${icon}">
<style id="viewer-style">${style}</style>
</head>
<body>
<div id="app"><p class="boot">Reading traces…</p></div>
<script id="viewer-code">${script}</script>
<script type="application/json" id="trace-data" data-encoding="none"></script>
</body>
</html>
`;
}

async function hashSource(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `sha256-${new Uint8Array(digest).toBase64()}`;
}

/** Returns the panel's script, with its style inside. */
async function buildPanel(): Promise<string> {
  const folder = "../dev/panel/page";
  const style = await bundle(`${folder}/panel.css`);
  return await bundle(`${folder}/main.ts`, {
    PANEL_STYLE: JSON.stringify(style),
  });
}

async function bundle(
  entry: string,
  define: Record<string, string> = {},
): Promise<string> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(here, entry)],
    absWorkingDir: here,
    bundle: true,
    write: false,
    minify: true,
    define,
    format: "iife",
    // Older ones lack `light-dark()`, and Firefox the menu's popover.
    target: ["es2023", "chrome123", "firefox125", "safari17.5"],
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [npmPackages],
    tsconfigRaw: {},
  });
  const text = outputFiles[0]!.text.trim();
  // These would end the element, or start a comment in it.
  if (/<\/(script|style)|<!--/i.test(text)) {
    throw new Error(
      `Cannot inline ${entry}: the bundle must not contain </script, </style or <!--`,
    );
  }
  return text;
}

/** Finds npm packages in Deno's cache, which esbuild doesn't know. */
const npmPackages: esbuild.Plugin = {
  name: "npm-packages",
  setup(build) {
    build.onResolve({ filter: /^(@preact\/|preact\b)/ }, (args) => {
      const { path, importer, kind, pluginData } = args;
      if (pluginData === "in-package") return;
      const name = /^(@[^/]+\/)?[^/]+/.exec(path)![0];
      // Packages see their own dependencies, our files see ours.
      const manifest = findPackageJSON(name, importer) ??
        findPackageJSON(name, import.meta.url)!;
      // From its own folder, a package resolves to its exports.
      const resolveDir = dirname(manifest);
      return build.resolve(path, {
        resolveDir,
        kind,
        pluginData: "in-package",
      });
    });
  },
};

/**
 * Returns a module that exports a text. Runtimes other than Deno can't import a
 * file as text.
 */
function toModule(title: string, name: string, text: string): string {
  return `/** ${title}. Made by \`deno task build\`. */
export const ${name}: string = ${JSON.stringify(text)};
`;
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--check");
  if (unknown !== undefined) {
    console.error(`Unknown argument ${unknown}\nUsage: build.ts [--check]`);
    return 2;
  }
  const [page, panel] = await Promise.all([buildPage(), buildPanel()]);
  await esbuild.stop();
  const files = {
    "viewer/dist/index.html": page,
    "viewer/dist/page.ts": toModule("The viewer's page", "page", page),
    "dev/panel/dist/script.ts": toModule("The panel", "script", panel),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, name);
    if (!args.includes("--check")) await replaceFile(path, text);
    else if (await Deno.readTextFile(path).catch(() => "") !== text) {
      console.error(`${name} is stale: run \`deno task build\``);
      return 1;
    }
  }
  for (const [name, text] of Object.entries({ viewer: page, panel })) {
    const kilobytes = (await gzipSize(text) / 1024).toFixed(1);
    console.log(`${name}: ${kilobytes} KB gzip`);
  }
  return 0;
}

/** Replaces a file atomically, because another process may read it. */
async function replaceFile(path: string, text: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${Deno.pid}`;
  await Deno.writeTextFile(unfinished, text);
  await Deno.rename(unfinished, path);
}

/** Returns the bytes of a page after `gzip`. */
export async function gzipSize(page: string): Promise<number> {
  return (await gzip(new TextEncoder().encode(page))).length;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
