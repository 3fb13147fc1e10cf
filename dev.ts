/**
 * The dev command. It serves an app on this machine. With `--trace`, it prints a
 * tree for each request and serves the trace viewer at `/__app/traces`. Deno's
 * `--watch` restarts it when a file changes.
 *
 * ```sh
 * deno run -A --watch jsr:@quartet/kit@^0.1/dev main.ts --trace
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
import { runDev } from "./dev/run.ts";

if (!("Deno" in globalThis)) {
  throw new TypeError(
    "Cannot run the dev command: it needs Deno, received another runtime; mount tracePlugin() to see traces there",
  );
}

/**
 * Runs the dev command until it is interrupted.
 *
 * @param args The command line, without the name of the program.
 * @returns The exit code: 0 after a clean shutdown, 1 if the app could not be
 * started, 2 if the command line was wrong.
 */
export async function dev(args: readonly string[]): Promise<number> {
  try {
    const options = parseArguments(args);
    if (options.help) {
      console.log(USAGE);
    } else {
      await runDev(options);
    }
    return 0;
  } catch (error) {
    if (!(error instanceof DevError)) throw error;
    console.error(`error: ${printable(error.message)}`);
    if (error.exitCode === 2) console.error(`\n${USAGE}`);
    return error.exitCode;
  }
}

if (import.meta.main) {
  // An app may have left timers or connections behind; the command is done.
  Deno.exit(await dev(Deno.args));
}
