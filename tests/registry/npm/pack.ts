/**
 * Packs the package, and the parts of `@std` that it needs, as JSR serves them
 * to npm clients.
 *
 * JSR compiles the modules and writes their declarations, and so does `deno
 * pack`. The names are JSR's: `@quartet/kit` becomes `@jsr/quartet__kit`.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readProject } from "../../../tools/project_config.ts";
import { packageConfig } from "../../../tools/publish_config.ts";
import { findImports } from "../../../tools/published_imports.ts";
import { ROOT } from "../../helpers.ts";
import { runOk } from "./command.ts";

/** The fields of a `package.json` that are used here. */
export interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  [field: string]: unknown;
}

/** A package, ready to serve. */
export interface Packed {
  readonly manifest: Manifest;
  /** Content of its `.tgz`. */
  readonly tarball: Uint8Array<ArrayBuffer>;
}

/** This project imports `@std` from this npm package. */
const MIRROR = "deno-std";
const STD_RANGE = "^1.0.0";
const STD_VERSION = "1.0.0";

/** Packs `@jsr/quartet__kit` and the packages of `@std` that it depends on. */
export async function packForNpm(folder: string): Promise<Packed[]> {
  const project = await readProject();
  const entries = Object.values(project.exports);
  const specifiers = await findImports(entries, ROOT);
  const config = packageConfig(project, specifiers, "npm");

  const source = join(folder, "source");
  for (const path of [...config.publish.include, "types"]) {
    await copy(fileURLToPath(new URL(path, ROOT)), join(source, path));
  }
  await Deno.writeTextFile(join(source, "deno.json"), JSON.stringify(config));
  const file = join(folder, "deno_pack.tgz");
  await runOk(Deno.execPath(), [
    "pack",
    "--quiet",
    "--allow-dirty",
    "--output",
    "deno_pack.tgz",
  ], { cwd: source });
  await Deno.rename(join(source, "deno_pack.tgz"), file);
  await runOk("tar", ["-xzf", file], { cwd: folder });

  const std = [...specifiers].filter((it) => it.startsWith("@std/"));
  const kit = join(folder, "package");
  await renameStd(kit);
  const manifest: Manifest = JSON.parse(
    await Deno.readTextFile(join(kit, "package.json")),
  );
  manifest.name = npmName(manifest.name);
  delete manifest.dependencies![MIRROR];
  for (const name of packagesOf(std)) {
    manifest.dependencies![npmName(name)] = STD_RANGE;
  }
  return [
    await pack(kit, manifest),
    ...await Promise.all(
      packagesOf(std).map((name) =>
        packStd(join(folder, npmName(name)), name, std)
      ),
    ),
  ];
}

/** Returns a package's name on npm: `@std/http` → `@jsr/std__http` */
function npmName(name: string): string {
  return name.replace(/^@([^/]+)\//, "@jsr/$1__");
}

/** Returns the packages of specifiers: `@std/http/cookie` → `@std/http` */
function packagesOf(specifiers: readonly string[]): string[] {
  return [
    ...new Set(specifiers.map((it) => it.split("/").slice(0, 2).join("/"))),
  ];
}

/** Renames `@std` in modules and declarations to its name on npm. */
async function renameStd(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await renameStd(path);
    else if (/\.(js|d\.ts)$/.test(name)) {
      const text = await Deno.readTextFile(path);
      const renamed = text.replaceAll(
        /(from |import\()"(@std\/[^"]+)"/g,
        (_, before, it) => `${before}"${npmName(it)}"`,
      );
      if (renamed !== text) await Deno.writeTextFile(path, renamed);
    }
  }
}

/** Packs the needed modules of a package of `@std`. */
async function packStd(
  folder: string,
  name: string,
  specifiers: readonly string[],
): Promise<Packed> {
  const exports: Record<string, string> = {};
  for (const specifier of specifiers) {
    if (!specifier.startsWith(`${name}/`)) continue;
    const file = `${specifier.slice(name.length)}.js`;
    exports[`.${specifier.slice(name.length)}`] = `.${file}`;
    await copy(
      fileURLToPath(import.meta.resolve(specifier)),
      join(folder, file),
    );
  }
  return await pack(folder, {
    name: npmName(name),
    version: STD_VERSION,
    type: "module",
    exports,
  });
}

async function pack(folder: string, manifest: Manifest): Promise<Packed> {
  await Deno.writeTextFile(
    join(folder, "package.json"),
    JSON.stringify(manifest),
  );
  const file = `${folder}.tgz`;
  // An npm tarball has one top folder, of any name.
  const parent = dirname(folder);
  const child = folder.slice(parent.length + 1);
  await runOk("tar", ["-czf", file, child], { cwd: parent });
  return { manifest, tarball: await Deno.readFile(file) };
}

async function copy(from: string, to: string): Promise<void> {
  const { isDirectory } = await Deno.stat(from);
  if (isDirectory) {
    await Deno.mkdir(to, { recursive: true });
    for await (const { name } of Deno.readDir(from)) {
      await copy(join(from, name), join(to, name));
    }
  } else {
    await Deno.mkdir(dirname(to), { recursive: true });
    await Deno.copyFile(from, to);
  }
}
