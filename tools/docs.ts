/**
 * Writes the API reference of all entry points into `reference/`, or into the
 * folder that is given, as pages for a browser.
 *
 * @module
 */

import config from "../deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url);
const OUTPUT = Deno.args[0] ?? new URL("reference", ROOT).pathname;
const NAMES = Object.keys(config.exports).map((name) => name.slice(2) || ".");

await Deno.remove(OUTPUT, { recursive: true }).catch(() => {});
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
