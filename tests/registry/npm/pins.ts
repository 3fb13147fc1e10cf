import { ROOT } from "../../helpers.ts";

/** A specifier of an npm package and a path in it: `npm:name@1.2.3/path`. */
const SPECIFIER = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)@(\d+\.\d+\.\d+[^/]*)(\/.*)?$/;

/** Target of an import in `import_map.json`. */
export interface Pin {
  readonly name: string;
  readonly version: string;
  /** Specifier for Node and Bun: the name and the path below it. */
  readonly specifier: string;
}

const { imports } = JSON.parse(
  await Deno.readTextFile(new URL("import_map.json", ROOT)),
) as { imports: Record<string, string> };

/** Returns the target of a bare specifier in `import_map.json`. */
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

/** Returns the versions of packages by name, as in a `package.json`. */
export function versionsOf(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => {
    const pin = pinOf(name);
    if (pin === undefined) throw new Error(`import_map.json has no ${name}`);
    return [pin.name, pin.version];
  }));
}
