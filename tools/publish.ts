/**
 * Publishes the package to JSR. Without an argument it is a dry run.
 *
 * The project builds where only npm can be reached, so
 * `import_map.json` takes `@std` from there. Users get the official packages: while this runs, a
 * config of the package alone, `jsr.json`, stands beside `deno.json`.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { findImports } from "./published_imports.ts";
import { packageConfig } from "./publish_config.ts";
import type { PackageConfig } from "./publish_config.ts";
import { readProject } from "./project_config.ts";
import { checkChangelog, checkVersionIsNew } from "./release_checks.ts";

const USAGE = `Usage: deno task publish [--execute]

Checks that the package can be published, and lists the files of it.

Options:
  --execute    publish it, signed in by the token in JSR_TOKEN or in a browser
  --help       print this text`;

const ROOT = new URL("../", import.meta.url);
const CONFIG = "jsr.json";
/** The exit code of a command that SIGINT has ended. */
const INTERRUPTED = 130;

/** Parses the arguments. Returns an error message if one is wrong. */
function readOptions(
  args: string[],
): { readonly execute: boolean; readonly help: boolean } | string {
  try {
    return parseArgs({
      args,
      options: {
        execute: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    return (error as Error).message;
  }
}

async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === "string") {
    console.error(`${options}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }

  const project = await readProject();
  const obstacle = await checkChangelog(project, ROOT, options.execute) ??
    (options.execute ? await checkVersionIsNew(project) : undefined);
  if (obstacle !== undefined) {
    const { name, version } = project;
    console.error(`Cannot publish ${name}@${version}: ${obstacle}`);
    return 1;
  }

  const specifiers = await findImports(Object.values(project.exports), ROOT);
  const published = packageConfig(project, specifiers, "jsr");
  if (options.execute) {
    // No argument of this command: `deno task` prints those.
    const token = Deno.env.get("JSR_TOKEN");
    return await denoPublish(published, token ? ["--token", token] : []);
  }
  console.log("The published files import:");
  for (const target of Object.values(published.imports)) {
    console.log(`   ${target}`);
  }
  // Nothing is asked of JSR, so a dry run works where it can't be reached.
  const checked = packageConfig(project, specifiers, "npm");
  return await denoPublish(checked, ["--dry-run", "--allow-dirty"]);
}

/** Runs `deno publish` with a config that is gone afterwards. */
async function denoPublish(
  config: PackageConfig,
  args: readonly string[],
): Promise<number> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  Deno.addSignalListener("SIGINT", interrupt);
  Deno.addSignalListener("SIGTERM", interrupt);
  const path = new URL(CONFIG, ROOT);
  const text = `${JSON.stringify(config, null, 2)}\n`;
  try {
    await Deno.writeTextFile(path, text, { createNew: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    console.error(
      `Cannot publish: ${CONFIG} already exists, perhaps from another run; remove it`,
    );
    return 1;
  }
  try {
    if (interruption.signal.aborted) return INTERRUPTED;
    // deno.lock pins what the tests use too; a package has no lock file.
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: ["publish", "--config", CONFIG, "--no-lock", ...args],
      cwd: ROOT,
      signal: interruption.signal,
    }).spawn().status;
    return interruption.signal.aborted ? INTERRUPTED : code;
  } finally {
    await Deno.remove(path);
    Deno.removeSignalListener("SIGINT", interrupt);
    Deno.removeSignalListener("SIGTERM", interrupt);
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
