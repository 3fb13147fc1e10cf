import { startDeno } from "../helpers.ts";
import type { Child } from "../helpers.ts";
import { makeCache } from "./cache.ts";
import type { Registry } from "./jsr_registry.ts";
import type { Outcome } from "./publish_kit.ts";

/** A new project that will use the kit. */
export interface Project extends AsyncDisposable {
  readonly path: string;
  /** Starts `deno` in it. */
  start(...args: string[]): Child;
  /** Runs `deno` in it and waits for its end. */
  run(...args: string[]): Promise<Outcome>;
}

/**
 * Creates a project that only has a config, with a cache of its own.
 *
 * @param registry Registry of its `jsr:` packages.
 */
export async function makeProject(registry: Registry): Promise<Project> {
  const path = await Deno.makeTempDir();
  // Without a config, Deno would use one of a parent folder.
  await Deno.writeTextFile(`${path}/deno.json`, '{ "unstable": ["kv"] }');
  const cache = await makeCache();
  const start = (...args: string[]) =>
    startDeno(args, path, {
      env: { DENO_DIR: cache.path, JSR_URL: registry.url },
    });
  return {
    path,
    start,
    async run(...args) {
      await using child = start(...args);
      const code = await child.code;
      return { code, output: child.stdout + child.stderr };
    },
    async [Symbol.asyncDispose]() {
      await cache[Symbol.asyncDispose]();
      await Deno.remove(path, { recursive: true });
    },
  };
}
