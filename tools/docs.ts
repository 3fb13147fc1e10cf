/**
 * Writes the API reference of all entry points into `reference/`, or into the
 * folder that is given, as pages for a browser.
 *
 * @module
 */

import config from "../deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url);
const DEFAULT = new URL("reference", ROOT).pathname;
const [OUTPUT = DEFAULT, ...others] = Deno.args;
const NAMES = Object.keys(config.exports).map((name) => name.slice(2) || ".");

if (others.length > 0 || OUTPUT.startsWith("-")) {
  console.error("Usage: deno task docs [FOLDER]");
  Deno.exit(2);
}
// The default folder contains only earlier output.
if (OUTPUT === DEFAULT) {
  await Deno.remove(OUTPUT, { recursive: true }).catch(() => {});
} else if (!await isFree(OUTPUT)) {
  console.error(`Cannot write the reference: ${OUTPUT} is not an empty folder`);
  Deno.exit(1);
}
const { success } = await new Deno.Command(Deno.execPath(), {
  args: [
    "doc",
    "--html",
    `--name=${config.name}`,
    `--output=${OUTPUT}`,
    ...Object.values(config.exports),
  ],
  cwd: ROOT,
  stdout: "inherit",
  stderr: "inherit",
}).spawn().status;
if (!success) Deno.exit(1);
await correctImports(OUTPUT);
console.log(`Open ${OUTPUT}/index.html`);

async function isFree(path: string): Promise<boolean> {
  try {
    return (await Array.fromAsync(Deno.readDir(path))).length === 0;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

/** Each page shows how to import what it is about, without the package's name. */
async function correctImports(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) await correctImports(path);
    else if (name.endsWith(".html")) {
      const page = await Deno.readTextFile(path);
      const corrected = page.replaceAll(
        /from &quot;([\w./]+)&quot;/g,
        (whole, entry) =>
          NAMES.includes(entry) ? whole.replace(entry, nameOf(entry)) : whole,
      );
      if (corrected !== page) await Deno.writeTextFile(path, corrected);
    }
  }
}

function nameOf(entry: string): string {
  return entry === "." ? config.name : `${config.name}/${entry}`;
}
