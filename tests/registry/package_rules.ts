/**
 * The checks that JSR makes before it publishes a package.
 *
 * @module
 */

import { parseModule } from "./module_imports.ts";
import type { Import } from "./module_imports.ts";
import type { Files, NewVersion, PackageStore } from "./package_store.ts";
import { PublishError } from "./publish_error.ts";

/** A dependency, such as `jsr:@std/http@^1.0.0/cookie`. */
const DEPENDENCY =
  /^(?<registry>jsr|npm):\/?(?<name>(?:@[^/@]+\/)?[^/@]+)(?:@(?<range>[^/]+))?(?<path>\/.*)?$/;

/** A path of characters that every file system supports. */
const PATH = /^(\/(?!\.{1,2}(\/|$))[\w.@$+~()[\]{} -]+)+$/;

/**
 * Checks uploaded files.
 *
 * @param upload Name, version and config path of the upload.
 * @param files The files.
 * @param store Packages that they may depend on.
 * @returns The version to publish.
 * @throws {PublishError} If JSR would reject them.
 */
export function checkPackage(
  upload: { name: string; version: string; config: string },
  files: Files,
  store: PackageStore,
): NewVersion {
  checkPaths(files);
  const config = readConfig(files, upload.config);
  for (const key of ["name", "version"] as const) {
    if (config[key] === upload[key]) continue;
    throw new PublishError(
      key === "name" ? "configFileNameMismatch" : "configFileVersionMismatch",
      `${key} must be ${upload[key]}, received ${config[key]}`,
    );
  }
  if (config.license === undefined && !files.has("/LICENSE")) {
    throw new PublishError("missingLicense", "No license was specified");
  }
  const exports = typeof config.exports === "string"
    ? { ".": config.exports }
    : config.exports;
  checkModules(exports, files, store);
  return { name: upload.name, version: upload.version, exports, files };
}

function checkPaths(files: Files): void {
  const seen = new Set<string>();
  for (const path of files.keys()) {
    if (!PATH.test(path) || path.startsWith("/.git/")) {
      throw new PublishError("invalidPath", `path '${path}' is invalid`);
    }
    if (seen.has(path.toLowerCase())) {
      throw new PublishError("caseInsensitiveDuplicatePath", path);
    }
    seen.add(path.toLowerCase());
  }
}

interface PackageConfig {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly exports: string | Readonly<Record<string, string>>;
}

function readConfig(files: Files, path: string): PackageConfig {
  const bytes = files.get(path);
  if (bytes === undefined) {
    throw new PublishError(
      "missingConfigFile",
      `missing config file '${path}'`,
    );
  }
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new PublishError("invalidConfigFile", (error as Error).message);
  }
}

/** Checks the modules that the exports import. */
function checkModules(
  exports: Readonly<Record<string, string>>,
  files: Files,
  store: PackageStore,
): void {
  const reached = new Set<string>();
  for (const [key, path] of Object.entries(exports)) {
    if (!files.has(path.slice(1))) {
      throw new PublishError(
        "configFileExportsInvalid",
        `export '${key}' references entrypoint '${path}' which does not exist`,
      );
    }
    reached.add(path.slice(1));
  }
  // Iterating a set includes entries added during the iteration.
  for (const path of reached) {
    const source = new TextDecoder().decode(files.get(path));
    const { imports, changesGlobals } = parseModule(path, source);
    if (changesGlobals) {
      throw new PublishError(
        "globalTypeAugmentation",
        `modifying global types is not allowed ${path}`,
      );
    }
    for (const it of imports) {
      const target = checkImport(it, path, files, store);
      if (target !== undefined) reached.add(target);
    }
  }
}

/** Checks an import of a module. Returns the path if it is in the package. */
function checkImport(
  { specifier, type }: Import,
  importer: string,
  files: Files,
  store: PackageStore,
): string | undefined {
  const where = `'${specifier}' in ${importer}`;
  if (type !== undefined && type !== "json") {
    // JSR rejects these until its analyzer is updated, and Node can't load
    // them.
    throw new PublishError(
      "graphError",
      `The import attribute type of "${type}" is unsupported: ${where}`,
    );
  }
  if (/^\.{1,2}\//.test(specifier)) {
    const path = new URL(specifier, `file://${importer}`).pathname;
    if (files.has(path)) return path;
    throw new PublishError("graphError", `Module not found: ${where}`);
  }
  if (/^(node|data):/.test(specifier)) return undefined;
  const { registry, name, range, path = "" } =
    DEPENDENCY.exec(specifier)?.groups ?? {};
  if (registry === undefined) {
    throw new PublishError("invalidExternalImport", where);
  }
  if (range === undefined || range === "*") {
    throw new PublishError("missingConstraint", where);
  }
  if (registry === "jsr") {
    const known = store.versions(name!)?.values().some(({ exports }) =>
      `.${path}` in exports
    );
    if (!known) throw new PublishError("unresolvableJsrDependency", where);
  }
  return undefined;
}
