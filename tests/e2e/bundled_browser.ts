/**
 * The browser in the npm package `@sparticuz/chromium`. It is compressed, and
 * includes the libraries that a minimal system lacks.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Program } from "./browser.ts";

/**
 * Not in `deno.json`, and imported through a variable: otherwise Deno would
 * download this large package for everyone.
 */
const PACKAGE = "npm:@sparticuz/chromium@153.0.0";

const ARCHIVES = [
  "chromium.br",
  "al2023.tar.br",
  "fonts.tar.br",
  "swiftshader.tar.br",
];

/** Unpacks the browser into a temporary folder, once per version. */
export async function findBundledBrowser(): Promise<Program> {
  const version = PACKAGE.slice(PACKAGE.lastIndexOf("@") + 1);
  const temporary = await Deno.makeTempDir({ prefix: "chromium-" });
  const home = join(dirname(temporary), `quartet-chromium-${version}`);
  try {
    if (!await exists(home)) {
      await unpack(temporary);
      await Deno.writeTextFile(
        join(temporary, "fonts", "fonts.conf"),
        fontSettings(home),
      );
      // Another process may have been faster. Its folder is complete.
      await Deno.rename(temporary, home).catch(async (error) => {
        if (!await exists(home)) throw error;
      });
    }
  } finally {
    await Deno.remove(temporary, { recursive: true }).catch(() => {});
  }
  const libraries = [home, join(home, "al2023", "lib")];
  const own = Deno.env.get("LD_LIBRARY_PATH");
  return {
    path: join(home, "chromium"),
    env: {
      LD_LIBRARY_PATH: [...libraries, ...own ? [own] : []].join(":"),
      FONTCONFIG_PATH: join(home, "fonts"),
    },
    args: ["--no-zygote"],
  };
}

/** Unpacks into `target`: the package always uses the temporary folder. */
async function unpack(target: string): Promise<void> {
  const { inflate } = await import(PACKAGE);
  const program = fileURLToPath(import.meta.resolve(PACKAGE));
  const archives = join(dirname(program), "..", "bin");
  const before = Deno.env.get("TMPDIR");
  Deno.env.set("TMPDIR", target);
  try {
    for (const name of ARCHIVES) await inflate(join(archives, name));
  } finally {
    if (before === undefined) Deno.env.delete("TMPDIR");
    else Deno.env.set("TMPDIR", before);
  }
}

/** Returns font settings for this folder. The package expects another one. */
function fontSettings(home: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${home}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${home}/fonts-cache</cachedir>
</fontconfig>
`;
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}
