/**
 * The dev command. It serves an app on this machine. With `--trace`, it prints a
 * tree for each request and serves the trace viewer at `/__app/traces`. Deno's
 * `--watch` restarts it when a file changes.
 *
 * ```sh
 * deno run -A --watch jsr:@quartet/kit@^0.1/dev main.ts --trace
 * ```
 *
 * On Node and Bun, run the file of the installed package:
 *
 * ```sh
 * node --watch node_modules/@quartet/kit/dev.js main.ts --trace
 * bun --watch node_modules/@quartet/kit/dev.js main.ts --trace
 * ```
 *
 * `main.ts` default-exports an app, or any object with a `fetch` method:
 *
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 *
 * const app = createApp();
 * app.route({ path: "/", handler: () => new Response("hello") });
 * export default app;
 * ```
 *
 * @module
 */

import { printable } from "./core/redact/printable.ts";
import { parseArguments, USAGE } from "./dev/arguments.ts";
import { DevError } from "./dev/dev_error.ts";

/**
 * Runs the dev command until SIGINT or SIGTERM.
 *
 * @param args The arguments, without the name of the program.
 * @returns The exit code: 0 after a clean shutdown, 1 if the app couldn't be
 * started, 2 if an argument is wrong.
 */
export async function dev(args: readonly string[]): Promise<number> {
  try {
    const options = parseArguments(args);
    if (options.help) {
      console.log(USAGE);
    } else {
      const { default: process } = await import("node:process");
      const { deno, node } = process.versions;
      const [name, version, oldest, old] = deno === undefined
        ? ["Node", node!, "22", /^(?:1?\d|2[01])\./]
        : ["Deno", deno, "2.9", /^(?:[01]|2\.[0-8])\./];
      if (old.test(version)) {
        throw new DevError(
          `Cannot serve: ${name} must be version ${oldest} or newer, received ${version}`,
        );
      }
      // Loading it on such a version throws.
      await (await import("./dev/run.ts")).runDev(options);
    }
    return 0;
  } catch (error) {
    if (!(error instanceof DevError)) throw error;
    console.error(`error: ${printable(error.message)}`);
    if (error.exitCode === 2) console.error(`\n${USAGE}`);
    return error.exitCode;
  }
}

// An app that only imports `dev` doesn't wait for Node's modules, 50 ms on Deno.
if (import.meta.main ?? await isProgram()) {
  const { default: process } = await import("node:process");
  // Open timers or connections of the app would keep the process alive.
  process.exit(await dev(process.argv.slice(2)));
}

/** Node 22 has no `import.meta.main`. */
async function isProgram(): Promise<boolean> {
  const { argv: [, program] } = await import("node:process");
  const { realpathSync } = await import("node:fs");
  const { pathToFileURL } = await import("node:url");
  return program !== undefined &&
    import.meta.url === pathToFileURL(realpathSync(program)).href;
}
