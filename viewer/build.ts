/**
 * Builds the viewer into one file, `viewer/dist/index.html`, that loads
 * nothing from anywhere, and into a module that exports it as text,
 * `viewer/dist/page.ts`. The same sources give the same bytes.
 *
 * `deno task build` writes the files; with `--check` it only says whether
 * those that are there are fresh, and exits with 1 if they aren't.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { minify } from "terser";

const here = fileURLToPath(new URL(".", import.meta.url));
const dist = join(here, "dist");

/**
 * Gives the page as text. The traces come last: so they can be listed while
 * the browser is still reading them.
 */
export async function buildViewer(): Promise<string> {
  const [style, script] = await Promise.all([
    bundle("styles.css"),
    bundle("main.tsx"),
  ]);
  const policy = await contentSecurityPolicy(style, script);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Traces</title>
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

/** Allows the page's own script and style, by their hashes, and its server. */
async function contentSecurityPolicy(
  style: string,
  script: string,
): Promise<string> {
  return [
    "default-src 'none'",
    `script-src '${await hashSource(script)}'`,
    `style-src '${await hashSource(style)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

async function hashSource(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `sha256-${new Uint8Array(digest).toBase64()}`;
}

async function bundle(entry: string): Promise<string> {
  const result = await esbuild.build({
    entryPoints: [join(here, entry)],
    absWorkingDir: here,
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: ["es2023", "chrome123", "firefox121", "safari17.5"],
    charset: "utf8",
    legalComments: "none",
    jsx: "transform",
    jsxFactory: "h",
    jsxFragment: "Fragment",
    // Support for a browser extension that this page does without.
    define: { "window.__PREACT_SIGNALS_DEVTOOLS__": "false" },
    inject: [join(here, "jsx.ts")],
    plugins: [npmPackages],
    tsconfigRaw: {},
  });
  const bundled = result.outputFiles[0]!.text;
  const text = (entry.endsWith(".css") ? bundled : await squeeze(bundled))
    .trim();
  // Inside of the page neither may hold what would end it, nor begin a comment.
  if (/<\/(script|style)|<!--/i.test(text)) {
    throw new Error(
      `Cannot inline ${entry}: the bundle must not contain </script, </style or <!--`,
    );
  }
  return text;
}

/** Makes a minified script some more kilobytes smaller. */
async function squeeze(script: string): Promise<string> {
  const { code } = await minify(script, {
    ecma: 2020,
    toplevel: true,
    // No option that takes getters for pure: reading a signal subscribes to it.
    // Arrows are unsafe only for what is called by `new` without using `this`.
    // No sequences: what is left as statements repeats more.
    compress: { passes: 3, sequences: false, unsafe_arrows: true },
  });
  return code ?? "";
}

/** Finds npm packages where Deno keeps them. */
const npmPackages: esbuild.Plugin = {
  name: "npm-packages",
  setup(build) {
    // Its core alone: what it adds to components is what `jsx.ts` does.
    build.onResolve({ filter: /^@preact\/signals$/ }, ({ path, kind }) => {
      const importer = findPackageJSON(path, import.meta.url)!;
      return build.resolve(`${path}-core`, { importer, kind });
    });
    build.onResolve({ filter: /^(@[^/]+\/)?[a-z][^/]*/ }, async (args) => {
      const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(.*)$/s.exec(args.path)!;
      // From a package its dependencies can be seen, and from here ours.
      const manifest = findPackageJSON(name!, args.importer) ??
        findPackageJSON(name!, import.meta.url);
      if (manifest === undefined) {
        return { errors: [{ text: `Cannot find the package "${name}"` }] };
      }
      const { exports } = JSON.parse(await Deno.readTextFile(manifest));
      const file = pickExport(exports[`.${rest}`]);
      return { path: join(dirname(manifest), file) };
    });
  },
};

/** What a package exports to browsers as a module. */
function pickExport(exported: unknown): string {
  if (typeof exported === "string") return exported;
  const conditions = exported as Record<string, unknown>;
  for (const name of ["browser", "import", "default"]) {
    if (conditions[name] !== undefined) return pickExport(conditions[name]);
  }
  throw new TypeError("Cannot bundle a package that exports no module");
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--check");
  if (unknown !== undefined) {
    console.error(`Unknown argument ${unknown}\nUsage: build.ts [--check]`);
    return 2;
  }
  const page = await buildViewer();
  await esbuild.stop();
  const files = { "index.html": page, "page.ts": toModule(page) };
  if (args.includes("--check")) return await checkFiles(files);
  await writeFiles(files);
  const kilobytes = (await gzipSize(page) / 1024).toFixed(1);
  console.log(`viewer/dist/index.html: ${kilobytes} KB gzip`);
  return 0;
}

/**
 * A page as a module. Importing a file as text would do for Deno, but not for
 * every server that this package is installed on.
 */
function toModule(page: string): string {
  return `/** The viewer's page. Made by \`deno task build\`. */
export const page: string = ${JSON.stringify(page)};
`;
}

async function checkFiles(files: Record<string, string>): Promise<number> {
  for (const [name, text] of Object.entries(files)) {
    const current = await Deno.readTextFile(join(dist, name)).catch(() => "");
    if (current === text) continue;
    console.error(`viewer/dist/${name} is stale: run \`deno task build\``);
    return 1;
  }
  return 0;
}

async function writeFiles(files: Record<string, string>): Promise<void> {
  await Deno.mkdir(dist, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    // Others may read it meanwhile: they get the old file or the new one.
    const unfinished = join(dist, `${name}.${Deno.pid}`);
    await Deno.writeTextFile(unfinished, text);
    await Deno.rename(unfinished, join(dist, name));
  }
}

/** How many bytes a page is on its way over the network, by `gzip`. */
export async function gzipSize(page: string): Promise<number> {
  const stream = new Blob([page]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
