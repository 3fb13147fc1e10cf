/**
 * Atlas under the dev command, as its users start it.
 *
 * @module
 */

import { addressOf } from "../dev/dev_command.ts";
import type { Folder } from "../dev/dev_command.ts";
import { ROOT, startDeno } from "../helpers.ts";
import { FIGURES_PATH } from "./watched_atlas.ts";
import type { Figures } from "./watched_atlas.ts";

/** What a webhook has to bring. */
export const REVALIDATE_SECRET = "what the editors of the soak bring along";

/** A server's process. Ends with the block that it was started in. */
export interface AtlasProcess extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** Everything it has complained of. Nothing should be in there. */
  readonly complaints: string;
  /** Asks it how it is. */
  figures(send?: typeof fetch): Promise<Figures>;
  /** Ends it on the spot, whatever it is at, and waits until it is gone. */
  crash(): Promise<void>;
}

/** How much of the traces that it prints is kept, in characters. */
const KEEP = 10_000;

/**
 * Starts Atlas with tracing on.
 *
 * @param folder Where its database is, which may be of an earlier process.
 * @param port Where it listens. Default: a free port.
 */
export async function startAtlas(
  folder: Folder,
  port = 0,
): Promise<AtlasProcess> {
  await folder.write("main.ts", entryFor(folder));
  const child = startDeno(
    [
      "run",
      "-A",
      "--no-check",
      "--v8-flags=--expose-gc",
      "--config",
      new URL("deno.json", ROOT).pathname,
      new URL("dev.ts", ROOT).href,
      "main.ts",
      "--trace",
      "--port",
      `${port}`,
    ],
    folder.path,
    { keep: KEEP },
  );
  const { origin, port: chosen } = await addressOf(child).catch(
    async (error) => {
      await child[Symbol.asyncDispose]();
      throw error;
    },
  );
  return {
    origin,
    port: Number(chosen),
    get complaints() {
      return child.stderr;
    },
    async figures(send = fetch) {
      return await (await send(origin + FIGURES_PATH)).json();
    },
    async crash() {
      child.kill("SIGKILL");
      await child.code;
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** Where the database of a folder is. */
export function databaseIn(folder: Folder): string {
  return `${folder.path}/atlas.db`;
}

function entryFor(folder: Folder): string {
  const options = {
    database: databaseIn(folder),
    // As in the demo, it is the same after a restart.
    sessionSecret: "the secret of the soak, of more than thirty-two bytes",
    revalidateSecret: REVALIDATE_SECRET,
  };
  const module = new URL("./watched_atlas.ts", import.meta.url);
  return `import { createWatchedAtlas } from ${JSON.stringify(module)};
export default createWatchedAtlas(${JSON.stringify(options)});
`;
}
