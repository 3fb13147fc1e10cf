import { ROOT } from "../../helpers.ts";

/** A package from npm, and a path in it: `npm:name@1.2.3/path`. */
const SPECIFIER = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)@(\d+\.\d+\.\d+[^/]*)(\/.*)?$/;

/** Where an import is found. */
export interface Pin {
  readonly name: string;
  readonly version: string;
  /** As Node and Bun write it: the name, and the path below it. */
  readonly specifier: string;
}

const { imports } = JSON.parse(
  await Deno.readTextFile(new URL("deno.json", ROOT)),
) as { imports: Record<string, string> };

/** Finds what `deno.json` maps a bare specifier to. */
export function pinOf(specifier: string): Pin | undefined {
  for (const [key, target] of Object.entries(imports)) {
    const isPrefix = key.endsWith("/") && specifier.startsWith(key);
    if (specifier !== key && !isPrefix && !specifier.startsWith(`${key}/`)) {
      continue;
    }
    const [, name, version, path = ""] = SPECIFIER.exec(target) ?? [];
    if (name === undefined || version === undefined) continue;
    const rest = specifier.slice(key.length);
    return { name, version, specifier: name + path + rest };
  }
  return undefined;
}

/** The versions of packages, by their names, as a `package.json` has them. */
export function versionsOf(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => {
    const pin = pinOf(name);
    if (pin === undefined) throw new Error(`deno.json has no ${name}`);
    return [pin.name, pin.version];
  }));
}
