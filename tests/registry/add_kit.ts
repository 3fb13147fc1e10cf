/**
 * The kit as its users get it: published by `deno task publish`, added by `deno
 * add`, in a project that uses each entry point.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { addressOf } from "../dev/dev_command.ts";
import { anyRedis, hasRedis } from "../redis_server.ts";
import { bundleKit } from "./bundle_kit.ts";
import type { Registry } from "./jsr_registry.ts";
import { parseModule } from "./module_imports.ts";
import type { Files } from "./package_store.ts";
import { makeProject } from "./project.ts";
import type { Project } from "./project.ts";
import deno from "../../deno.json" with { type: "json" };
import map from "../../import_map.json" with { type: "json" };

const CONSUMER = new URL("consumer/", import.meta.url);
const ENTRIES = Object.keys(deno.exports) as (keyof typeof deno.exports)[];
/** Packages of npm that the consumer uses together with the kit. */
const PEERS = ["zod", "redis", "@tanstack/query-core"] as const;

/** Tests the version that was published to a registry. */
export async function testPublished(
  t: Deno.TestContext,
  registry: Registry,
): Promise<void> {
  const { files } = registry.packages.versions(deno.name)!.get(deno.version)!;

  await t.step("it contains the needed files and nothing else", () => {
    checkFiles(files);
  });
  await t.step("its sources import the official @std", () => {
    checkImports(files);
  });
  await t.step(
    "it has all points of JSR's score that depend on its files",
    () => checkScore(files, registry),
  );

  await using project = await makeProject(registry);
  await t.step("deno add adds it", () => addKit(project));
  await t.step(
    "each entry point passes the type check",
    () => checkTypes(project),
  );
  await t.step(
    "each entry point works with few permissions",
    () => useEntryPoints(project),
  );
  await t.step(
    "the dev command traces an app and ends when interrupted",
    () => useDevCommand(project),
  );
  await t.step(
    "the plugin in docs/bundling.md bundles its client",
    () => bundleKit(registry),
  );
  await t.step(
    "a file that differs from the published one isn't run",
    () => tamper(registry, files),
  );
}

/** The only files besides modules that an entry point imports. */
const DOCUMENTS = ["/LICENSE", "/README.md", "/jsr.json"];

function checkFiles(files: Files): void {
  const needed = new Set(ENTRIES.map((entry) => deno.exports[entry].slice(1)));
  // Iterating a set includes entries added during the iteration.
  for (const path of needed) {
    for (const specifier of importsOf(path, files)) {
      if (!specifier.startsWith(".")) continue;
      needed.add(new URL(specifier, `file://${path}`).pathname);
    }
  }
  const expected = [...needed, ...DOCUMENTS].toSorted();
  assertEquals([...files.keys()].toSorted(), expected);
  for (const [path, bytes] of files) {
    const text = new TextDecoder().decode(bytes);
    assert(
      !text.includes(Deno.cwd()),
      `${path} names a folder of this machine`,
    );
  }
}

function importsOf(path: string, files: Files): string[] {
  const source = new TextDecoder().decode(files.get(path));
  return parseModule(path, source).imports.map(({ specifier }) => specifier);
}

function checkImports(files: Files): void {
  const specifiers = [...files.keys()]
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => importsOf(path, files))
    .filter((specifier) => !/^(\.|node:)/.test(specifier));
  const isRight = (specifier: string) =>
    /^(jsr:@std\/|npm:)/.test(specifier) && !specifier.includes("deno-std");
  assertEquals(specifiers.filter((specifier) => !isRight(specifier)), []);
  assert(specifiers.some((specifier) => specifier.startsWith("jsr:@std/")));
}

/**
 * Checks the rules of https://jsr.io/docs/scoring about a package's files.
 * `deno publish` has already rejected slow types.
 */
async function checkScore(files: Files, registry: Registry): Promise<void> {
  const readme = new TextDecoder().decode(files.get("/README.md"));
  assertStringIncludes(readme, "```ts", "examples in the README");

  await using project = await makeProject(registry);
  for (const [path, bytes] of files) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    await Deno.mkdir(project.path + folder, { recursive: true });
    await Deno.writeFile(project.path + path, bytes);
  }
  const entries = Object.values(deno.exports);
  const undocumented = await project.run("doc", "--lint", ...entries);
  assertEquals(undocumented.code, 0, undocumented.output);

  await using child = project.start("doc", "--json", ...entries);
  assertEquals(await child.code, 0, child.stderr);
  const { nodes } = JSON.parse(child.stdout);
  const modules = Object.values<{ module_doc?: { doc?: string } }>(nodes);
  assertEquals(modules.length, entries.length);
  assert(modules.every(({ module_doc }) => module_doc?.doc), "module docs");
}

async function addKit({ path, run }: Project): Promise<void> {
  const peers = PEERS.map((name) => map.imports[name]);
  const { code, output } = await run("add", `jsr:${deno.name}`, ...peers);
  assertEquals(code, 0, output);
  const { imports } = JSON.parse(await Deno.readTextFile(`${path}/deno.json`));
  assertEquals(imports[deno.name], `jsr:${deno.name}@^${deno.version}`);
}

/**
 * Returns the consumer's file for an entry point: `./auth/kv` → `auth_kv.ts`
 */
function fileOf(entry: string): string {
  const name = entry === "." ? "kit" : entry.slice(2).replaceAll("/", "_");
  return `${name}.ts`;
}

/** Returns an entry point's specifier: `./auth` → `@quartet/kit/auth` */
function specifierOf(entry: string): string {
  return deno.name + entry.slice(1);
}

async function checkTypes({ path, run }: Project): Promise<void> {
  for await (const { name } of Deno.readDir(CONSUMER)) {
    await Deno.copyFile(new URL(name, CONSUMER), `${path}/${name}`);
  }
  for (const entry of ENTRIES) {
    const source = await Deno.readTextFile(`${path}/${fileOf(entry)}`);
    assertStringIncludes(source, `from "${specifierOf(entry)}"`);
  }
  const { code, output } = await run("check", "main.ts", "server.ts");
  assertEquals(code, 0, output);
}

async function useEntryPoints({ run }: Project): Promise<void> {
  await using redis = hasRedis ? await anyRedis() : undefined;
  const hosts = ["127.0.0.1"];
  if (redis !== undefined) hosts.push(new URL(redis.url).host);
  const { code, output } = await run(
    "run",
    "--no-prompt",
    `--allow-net=${hosts}`,
    // TanStack Query and the Redis client read these.
    "--allow-env=NODE_ENV,REDIS_DEBUG_MAINTENANCE",
    "main.ts",
    ...(redis === undefined ? [] : [redis.url]),
  );
  assertEquals(code, 0, output);
  for (const entry of ENTRIES) {
    assertMatch(output, RegExp(`^${specifierOf(entry)} works$`, "m"));
  }
}

async function useDevCommand({ start }: Project): Promise<void> {
  const command = `jsr:${deno.name}/dev`;
  await using dev = start(
    "run",
    "-A",
    command,
    "server.ts",
    "--trace",
    "--port",
    "0",
  );
  const origin = await addressOf(dev);
  const cities = await fetch(new URL("/cities", origin));
  assertEquals(await cities.json(), ["Rome"]);
  await dev.printed(/SELECT name FROM city/);

  const viewer = await fetch(new URL("/__app/traces", origin));
  assertMatch(await viewer.text(), /<title>Traces<\/title>/);
  const traces = await fetch(new URL("/__app/traces/api", origin));
  assertStringIncludes(await traces.text(), "SELECT name FROM city");

  dev.kill("SIGINT");
  assertEquals(await dev.code, 0, dev.stderr);
}

/** Deno must compare each file with the manifest, and refuse a changed one. */
async function tamper(registry: Registry, files: Files): Promise<void> {
  files.set("/mod.ts", new TextEncoder().encode('console.log("other code");'));
  await using project = await makeProject(registry);
  const { output } = await project.run(
    "run",
    `jsr:${deno.name}@${deno.version}`,
  );
  assertStringIncludes(output, "Integrity check failed");
  assert(!output.includes("other code"));
}
