import { join } from "node:path";
import { runOk } from "./command.ts";
import type { Runtimes } from "./runtimes.ts";

/** Dependencies of a project other than the package. */
export type Dependencies = Readonly<Record<string, string>>;

/** Program that installs a project's packages. */
export type Installer = "npm" | "bun";

/** A project that has the package, and the runtime to use. */
export interface Project {
  readonly folder: string;
  readonly program: string;
}

/**
 * Installs the package into an empty project, with `.npmrc` and `package.json`
 * as `npx jsr add @quartet/kit` writes them.
 *
 * @param registry Address of the registry for `@jsr`. Other packages come from
 * npm.
 */
export async function createProject(
  folder: string,
  registry: string,
  installer: Installer,
  { node, npm, bun }: Runtimes,
  dependencies: Dependencies,
): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(
    join(folder, ".npmrc"),
    `@jsr:registry=${registry}\n`,
  );
  await Deno.writeTextFile(
    join(folder, "package.json"),
    JSON.stringify({
      type: "module",
      dependencies: {
        "@quartet/kit": "npm:@jsr/quartet__kit@^0.1",
        ...dependencies,
      },
    }),
  );
  const options = {
    cwd: folder,
    // Packages under these names change with each run, so a cache would be
    // stale.
    env: { BUN_INSTALL_CACHE_DIR: join(folder, ".bun_cache") },
  };
  if (installer === "bun") {
    await runOk(bun, ["install", "--no-progress"], options);
  } else {
    const quiet = ["--no-audit", "--no-fund", "--prefer-offline"];
    await runOk(node, [npm, "install", ...quiet], options);
  }
}
