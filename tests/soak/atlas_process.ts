/**
 * Atlas under the dev command, as its users start it.
 *
 * @module
 */

import { addressOf } from "../dev/dev_command.ts";
import type { Folder } from "../dev/dev_command.ts";
import { freePort, ROOT, startDeno } from "../helpers.ts";
import { FIGURES_PATH } from "./watched_atlas.ts";
import type { Figures } from "./watched_atlas.ts";

/** Secret that webhooks must send. */
export const REVALIDATE_SECRET = "what the editors of the soak bring along";

/** A running server process. Disposing it ends it. */
export interface AtlasProcess extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** Its output on stderr, which must stay empty. */
  readonly complaints: string;
  figures(send?: typeof fetch): Promise<Figures>;
  /** Kills it with SIGKILL and waits until it has exited. */
  crash(): Promise<void>;
}

/** Maximum length of the printed traces to keep, in characters. */
const KEEP = 10_000;

/**
 * Starts Atlas with tracing.
 *
 * @param folder Folder of its database. An earlier process may have used it.
 * @param port Port to listen on. Default: a free port.
 */
export async function startAtlas(
  folder: Folder,
  port = freePort(),
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

/** Returns the path of a folder's database. */
export function databaseIn(folder: Folder): string {
  return `${folder.path}/atlas.db`;
}

function entryFor(folder: Folder): string {
  const options = {
    database: databaseIn(folder),
    // The same secret after a restart, as in the demo.
    sessionSecret: "the secret of the soak, of more than thirty-two bytes",
    revalidateSecret: REVALIDATE_SECRET,
  };
  const module = new URL("./watched_atlas.ts", import.meta.url);
  return `import { createWatchedAtlas } from ${JSON.stringify(module)};
export default createWatchedAtlas(${JSON.stringify(options)});
`;
}
