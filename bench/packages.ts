/**
 * Packages for tools that don't know Deno's cache, such as esbuild and the
 * TypeScript compiler. They're in a folder with a `node_modules`, with the
 * versions that this repository pins.
 *
 * @module
 */

import map from "../import_map.json" with { type: "json" };

/** The root of the repository. */
export const ROOT = new URL("..", import.meta.url);

/** A folder with packages. It's deleted at the end of its block. */
export interface Packages extends AsyncDisposable {
  /** Path of the folder. */
  readonly path: string;
}

/** Creates a folder with packages that `import_map.json` names. */
export async function installPackages(
  names: readonly (keyof typeof map.imports)[],
): Promise<Packages> {
  const path = await Deno.makeTempDir({ prefix: "packages-" });
  const dependencies = Object.fromEntries(names.map((name) => {
    const specifier = map.imports[name];
    return [name, specifier.slice(specifier.lastIndexOf("@") + 1)];
  }));
  await Deno.writeTextFile(
    `${path}/package.json`,
    JSON.stringify({ private: true, type: "module", dependencies }),
  );
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet"],
    cwd: path,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
