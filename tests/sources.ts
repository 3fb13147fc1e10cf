/**
 * The source files of the package, for tests of rules that all of them follow.
 *
 * @module
 */

import { ROOT } from "./helpers.ts";

const FOLDERS = [
  "app",
  "auth",
  "core",
  "data",
  "dev",
  "rpc",
  "trace",
  "viewer",
];
/** The source files outside these folders. No module imports them. */
export const TOPS: readonly string[] = ["mod.ts", "dev.ts"];

/** Returns the lines of each source file, without build outputs. */
export async function readSources(): Promise<Map<string, readonly string[]>> {
  const sources = new Map<string, readonly string[]>();
  async function read(path: string): Promise<void> {
    const text = await Deno.readTextFile(new URL(path, ROOT));
    sources.set(path, text.trimEnd().split("\n"));
  }
  async function visit(folder: string): Promise<void> {
    for await (
      const { name, isDirectory } of Deno.readDir(new URL(`${folder}/`, ROOT))
    ) {
      const path = `${folder}/${name}`;
      if (isDirectory && name !== "dist") await visit(path);
      else if (/\.tsx?$/.test(name)) await read(path);
    }
  }
  for (const folder of FOLDERS) await visit(folder);
  for (const file of TOPS) await read(file);
  return sources;
}
