/**
 * The state of the source files below a folder, to know which ones were saved
 * between two runs.
 *
 * @module
 */

import { lstat, readdir } from "node:fs/promises";

/** Modification time and size of files, by their path below the folder. */
export type FileStates = ReadonlyMap<string, string>;

/** Maximum files. Further ones aren't looked at. */
export const MAX_FILES = 5_000;
/** Maximum depth of folders. */
const MAX_DEPTH = 16;

/** Code, and the settings that decide which code runs. */
const SOURCE =
  /(?:\.(?:[cm]?[jt]sx?|sql|vue|svelte|astro)|^(?:deno|package)\.jsonc?|^import_map\.json)$/;
/** Tests aren't part of the app. */
const TEST = /[._](?:test|spec|bench)\.[cm]?[jt]sx?$/;
/** Folders with the code of others, and with results of builds. */
const LEFT_OUT = /^(?:\..*|node_modules|vendor|dist|build|out|coverage)$/;

/** Returns the state of the source files below a folder. */
export async function readFileStates(folder: string): Promise<FileStates> {
  const states = new Map<string, string>();

  async function visit(below: string, depth: number): Promise<void> {
    const entries = await readdir(`${folder}/${below}`, { withFileTypes: true })
      .catch(() => []);
    // In a fixed order, so that the same files are looked at next time.
    entries.sort((a, b) => a.name < b.name ? -1 : 1);
    for (const entry of entries) {
      const { name } = entry;
      if (states.size >= MAX_FILES) return;
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH && !LEFT_OUT.test(name)) {
          await visit(`${below}${name}/`, depth + 1);
        }
      } else if (entry.isFile() && SOURCE.test(name) && !TEST.test(name)) {
        const path = below + name;
        const state = await lstat(`${folder}/${path}`).catch(() => undefined);
        if (state === undefined) continue;
        states.set(path, `${Math.floor(state.mtimeMs)} ${state.size}`);
      }
    }
  }

  await visit("", 0);
  return states;
}

/** Returns the files that differ, the ones that were saved last first. */
export function changedFiles(before: FileStates, after: FileStates): string[] {
  const isPartial = before.size >= MAX_FILES || after.size >= MAX_FILES;
  const paths = new Set([...after.keys(), ...before.keys()]);
  return [...paths]
    .filter((path) => {
      const [old, state] = [before.get(path), after.get(path)];
      const isKnown = old !== undefined && state !== undefined;
      return old !== state && (isKnown || !isPartial);
    })
    .sort((a, b) => savedAt(after.get(b)) - savedAt(after.get(a)));
}

function savedAt(state = "0"): number {
  return Number.parseInt(state, 10) || 0;
}
