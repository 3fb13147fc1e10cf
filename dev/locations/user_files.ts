/**
 * Decides which files are the user's own.
 *
 * @module
 */

import { fileURLToPath, pathToFileURL } from "node:url";

/** The folder of the package, as a URL that ends in a slash. */
const PACKAGE = new URL("../../", import.meta.url).href;
/** The folders and the file of the package with code of the kit, besides app. */
const OWN = ["auth", "core", "data", "dev", "dev.ts", "rpc", "trace"];

/** Folders with packages: installed, linked, or in the cache of a runtime. */
const PACKAGES =
  /[\\/](?:node_modules|\.bun[\\/]install[\\/]cache|\.yarn|npm[\\/][\w-]+(?:\.[\w-]+)+)[\\/]/;

/** The kit's host, which calls the user's code. */
export const HOST = Symbol("host");

/** Entries of a memo. Programs that import generated code have any number. */
const MAX_FILES = 5_000;

const files = new Map<string, string | typeof HOST | undefined>();

/**
 * Returns the path of a user's file. `undefined` for code of the kit, the runtime
 * and packages, and {@linkcode HOST} for the part of the kit that calls handlers.
 *
 * @param script The URL or path of a script, as call stacks have it.
 */
export function userFile(script: string): string | typeof HOST | undefined {
  if (files.has(script)) return files.get(script);
  if (files.size >= MAX_FILES) files.clear();
  const file = classify(script);
  files.set(script, file);
  return file;
}

function classify(script: string): string | typeof HOST | undefined {
  const path = toPath(script);
  // Node's CommonJS modules and Bun have paths instead of URLs.
  const url = path === undefined ? script : pathToFileURL(path).href;
  if (url.startsWith(PACKAGE)) {
    const [name] = url.slice(PACKAGE.length).split("/", 1);
    if (name === "app") return HOST;
    if (OWN.includes(name!)) return undefined;
  }
  return path === undefined || PACKAGES.test(path) ? undefined : path;
}

/** Returns the path of a file. `undefined` for built-in and remote modules. */
export function toPath(script: string): string | undefined {
  try {
    if (script.startsWith("file:")) return fileURLToPath(script);
  } catch {
    return undefined;
  }
  return /^(?:[\\/]|[A-Za-z]:[\\/])/.test(script) ? script : undefined;
}
