/**
 * Config of the published package, created from `deno.json`.
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

/** Source of `@std`: JSR, or its mirror on npm. */
export type StdSource = "jsr" | "npm";

/**
 * Supported versions of `@std`. The mirror has version numbers of its own. All
 * functions that this package uses exist since 1.0.0.
 */
const STD_RANGE = "^1.0.0";

/** Before a version that is pinned, as in `npm:name@1.2.3`. */
const PIN = /(?<=.@)(?=\d+\.\d+\.\d+(\/|$))/;

/**
 * Creates the config of the package.
 *
 * @param project Config of the project.
 * @param specifiers Imports of the published files from other packages.
 * @param std Source of `@std`.
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

/** Maps each specifier, so that the config contains nothing unused. */
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
  // A pin makes runs in this repository repeatable. A user's project has its own
  // lock file, and wants one copy of each package.
  return (target + specifier.slice(key.length))
    .replace(/^npm:\//, "npm:")
    .replace(PIN, "^");
}

/** `@std/http/cookie` → `jsr:@std/http@^1.0.0/cookie` */
function officialStd(specifier: string): string {
  const [, name, path] = /^(@std\/[^/]+)(.*)$/s.exec(specifier)!;
  return `jsr:${name}@${STD_RANGE}${path}`;
}
