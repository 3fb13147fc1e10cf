/**
 * What JSR is told of this package, made from `deno.json`.
 *
 * @module
 */

/** The fields of `deno.json` and `import_map.json` that matter to publishing. */
export interface ProjectConfig {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly publish: { readonly include: readonly string[] };
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
  readonly compilerOptions: Readonly<Record<string, unknown>>;
}

/** A config of the package alone: no tasks, no imports of tests and tools. */
export type PackageConfig = ProjectConfig;

/** Where the published files get `@std` from: JSR, or its mirror on npm. */
export type StdSource = "jsr" | "npm";

/**
 * The releases of `@std` that will do. The mirror counts its own versions, so
 * none can be taken from it; what this package uses is there since 1.0.0.
 */
const STD_RANGE = "^1.0.0";

/** Before a version that is pinned, as in `npm:name@1.2.3`. */
const PIN = /(?<=.@)(?=\d+\.\d+\.\d+(\/|$))/;

/**
 * Makes the config of the package.
 *
 * @param project What `deno.json` says.
 * @param specifiers What the published files import from other packages.
 * @param std Where they get `@std` from.
 */
export function packageConfig(
  project: ProjectConfig,
  specifiers: ReadonlySet<string>,
  std: StdSource,
): PackageConfig {
  const { name, version, license, publish, exports, compilerOptions } = project;
  // The official packages bring their types along; the mirror has none.
  const { types, jsx: _, jsxImportSource: __, ...checks } = compilerOptions;
  return {
    name,
    version,
    license,
    publish,
    exports,
    imports: packageImports(project.imports, specifiers, std),
    compilerOptions: std === "npm" ? { types, ...checks } : checks,
  };
}

/** Maps each specifier by itself, so that nothing is there which isn't used. */
function packageImports(
  imports: ProjectConfig["imports"],
  specifiers: ReadonlySet<string>,
  std: StdSource,
): Record<string, string> {
  return Object.fromEntries(
    [...specifiers].toSorted().map((specifier) => [
      specifier,
      std === "jsr" && specifier.startsWith("@std/")
        ? officialStd(specifier)
        : fromNpm(specifier, imports),
    ]),
  );
}

/** `jose/jwt/verify` → `npm:jose@^6.2.17/jwt/verify` */
function fromNpm(specifier: string, imports: ProjectConfig["imports"]): string {
  const [key, target] =
    Object.entries(imports).find(([key]) =>
      key === specifier || (key.endsWith("/") && specifier.startsWith(key))
    ) ?? [];
  if (key === undefined || !target!.startsWith("npm:")) {
    throw new Error(
      `Cannot publish ${specifier}: import_map.json must map it to npm, received ${target}`,
    );
  }
  // Here a pin makes runs repeatable. A user's project has a lockfile for
  // that, and wants one copy of what it uses itself.
  return (target + specifier.slice(key.length))
    .replace(/^npm:\//, "npm:")
    .replace(PIN, "^");
}

/** `@std/http/cookie` → `jsr:@std/http@^1.0.0/cookie` */
function officialStd(specifier: string): string {
  const [, name, path] = /^(@std\/[^/]+)(.*)$/s.exec(specifier)!;
  return `jsr:${name}@${STD_RANGE}${path}`;
}
