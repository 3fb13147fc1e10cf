import type { NewVersion } from "./package_store.ts";
import map from "../../import_map.json" with { type: "json" };

/** A module of `@std` on npm: `npm:deno-std@1.4.0/http/cookie.js` */
const MIRRORED = /^npm:deno-std@(?<version>[^/]+)\/.*?(?<file>\w+)\.js$/;

/**
 * Builds the official packages from the mirror on npm, which has their code,
 * and the declarations that the project keeps of them. Each has the modules
 * that sources of this project may import.
 */
export async function officialStd(): Promise<NewVersion[]> {
  const types = await Deno.readTextFile(
    new URL("../../types/std.d.ts", import.meta.url),
  );
  const packages = new Map<string, NewVersion>();
  for (const [specifier, target] of Object.entries(map.imports)) {
    const { version, file } = MIRRORED.exec(target)?.groups ?? {};
    const declarations = declarationsOf(specifier, types);
    if (version === undefined || declarations === undefined) continue;
    const code = await Deno.readTextFile(
      new URL(import.meta.resolve(specifier)),
    );
    // Skip modules with imports: they import siblings by paths that the
    // official packages don't have.
    if (/^import /m.test(code)) continue;
    const [, name, path] = /^(@std\/[^/]+)(.*)$/.exec(specifier)!;
    const { exports, files } = packages.get(name!) ??
      { exports: {}, files: new Map() };
    files.set(
      `/${file}.js`,
      bytes(`// @ts-self-types="./${file}.d.ts"\n${code}`),
    );
    files.set(`/${file}.d.ts`, bytes(declarations));
    packages.set(name!, {
      name: name!,
      version,
      exports: { ...exports, [`.${path}`]: `./${file}.js` },
      files,
    });
  }
  return [...packages.values()];
}

/** Returns the body of `declare module "specifier" { … }`. */
function declarationsOf(specifier: string, text: string): string | undefined {
  const start = `declare module "${specifier}" {\n`;
  return text.split(start)[1]?.split("\n}\n", 1)[0];
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
