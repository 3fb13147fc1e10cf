import { pathToFileURL } from "node:url";
import type { Fetcher } from "../app/serve.ts";
import { DevError } from "./dev_error.ts";

/**
 * Imports the file that default-exports the app.
 *
 * @throws {DevError} If there is no such file, if it throws, or if what it
 * exports can't answer requests.
 */
export async function loadEntry(entry: string): Promise<Fetcher> {
  const path = await findFile(entry);
  let module: { default?: unknown };
  try {
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    throw new DevError(`Cannot load ${entry}: ${oneLine(error)}`);
  }
  const app = module.default;
  if (isFetcher(app)) return app;
  throw new DevError(
    `Cannot serve ${entry}: it must default-export an app or an object with a fetch method, received ${
      app === undefined ? "no default export" : typeof app
    }`,
  );
}

async function findFile(entry: string): Promise<string> {
  try {
    const path = await Deno.realPath(entry);
    if ((await Deno.stat(path)).isFile) return path;
    throw new DevError(`Cannot load ${entry}: it is not a file`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new DevError(`Cannot load ${entry}: there is no such file`);
  }
}

function isFetcher(value: unknown): value is Fetcher {
  return typeof value === "object" && value !== null &&
    typeof (value as { fetch?: unknown }).fetch === "function";
}

/** What was thrown, and where, as the stack's first frame in a file tells. */
function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return `it threw ${String(error)}`;
  const [message] = error.message.split("\n");
  const frame = /\(?(file:\/\/\S+?:\d+:\d+)\)?\s*$/m.exec(error.stack ?? "");
  const place = frame === null ? "" : ` (at ${relative(frame[1]!)})`;
  return `it threw ${error.name}: ${message}${place}`;
}

function relative(url: string): string {
  return url.replace(`${pathToFileURL(Deno.cwd()).href}/`, "");
}
