import { realpath, stat } from "node:fs/promises";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { type Fetcher, isFetcher } from "../app/fetcher.ts";
import { kindOf } from "../core/check/rules.ts";
import { isThenable } from "../core/promises.ts";
import { trimEnd } from "../core/trim_end.ts";
import { nodeUtil } from "../core/runtime/environment.ts";
import { DevError } from "./dev_error.ts";
import { importModule } from "./import_module.ts";
import { userFile } from "./locations/user_files.ts";
import { isPortInUse } from "./server.ts";

/** Errors of Node and Bun about a file that they can't parse. */
const UNPARSED = /^(?:SyntaxError|BuildMessage|AggregateError)$/;

/**
 * Imports the file that default-exports the app.
 *
 * @throws {DevError} If the file doesn't exist, throws, or has no default export
 * with a `fetch` method.
 * @throws {Error} If Node or Bun can't parse a file. Only they know its place.
 */
export async function loadEntry(entry: string): Promise<Fetcher> {
  const path = await findFile(entry);
  // A file that awaits its own server would run without the dev command.
  const slow = setTimeout(() => console.log(`${entry} ${SLOW}`), 3_000);
  const { default: app } = await importModule(pathToFileURL(path).href)
    .finally(() => clearTimeout(slow))
    .catch((error) => {
      // The runtime shows the place of an error that nothing catches.
      if (UNPARSED.test(error?.name) && !placeIn(error)) throw error;
      throw new DevError(
        `Cannot load ${entry}: ${oneLine(error)}${adviceOn(error)}`,
      );
    });
  if (isFetcher(app)) return app;
  const received = describe(app);
  throw new DevError(
    `Cannot serve ${entry}: it must default-export an app or an object with a fetch method, received ${received}`,
  );
}

async function findFile(entry: string): Promise<string> {
  let problem: string;
  try {
    const path = await realpath(entry);
    if ((await stat(path)).isFile()) return path;
    problem = "it is not a file";
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    problem = code === "ENOENT" || code === "ENOTDIR"
      ? "there is no such file; paths start at the current folder"
      : message;
  }
  throw new DevError(`Cannot load ${entry}: ${problem}`);
}

const ADVICE =
  "instead of starting a server, export default app, or { fetch: handler }";
const SLOW = `is still loading; if it awaits its own server: ${ADVICE}`;

function adviceOn(error: unknown): string {
  if (isPortInUse(error)) return `; ${ADVICE}`;
  return Object(error).code === "ERR_UNKNOWN_FILE_EXTENSION"
    ? "; Node runs TypeScript since 22.18"
    : "";
}

const OTHER_SERVER =
  "a server whose handlers take (req, res), such as Express's; the dev command needs handlers that take a Request: docs/servers.md#on-node-and-bun";

function describe(value: unknown): string {
  if (value === undefined) return `no default export; ${ADVICE}`;
  const { listen, handle } = Object(value);
  if (typeof listen === "function" || typeof handle === "function") {
    return OTHER_SERVER;
  }
  if (typeof value === "function") {
    return "a function; if it takes a Request and returns a Response, export default { fetch: thatFunction }";
  }
  if (isThenable(value)) return "a promise; await it";
  const kind = kindOf(value);
  return kind === "an object" ? "an object without one" : kind;
}

/** Matches line and column at the end of a stack's line. */
const POSITION = /:\d+:\d+$/;

/** Returns the file URL in a stack's line, with line and column, if any. */
function placeOf(line: string): string | undefined {
  const text = trimEnd(line.trimEnd(), ")");
  if (!POSITION.test(text)) return undefined;
  const url = text.lastIndexOf("file://");
  if (url !== -1) return text.slice(url);
  // Bun has paths.
  const path = Math.max(text.lastIndexOf("(/"), text.lastIndexOf(" /"));
  return path === -1 ? undefined : `file://${text.slice(path + 1)}`;
}

/** The start of the URLs of the dev command's folder and file. */
const OWN_FRAMES = new URL("../dev", import.meta.url).href;

/** Returns the user's line in an error's stack, or else its first one. */
function placeIn({ stack = "" }: Error): string | undefined {
  // Deno colors the place of a failed import.
  const lines = nodeUtil().stripVTControlCharacters(stack).split("\n");
  const places = lines.flatMap((line) => placeOf(line) ?? [])
    .filter((url) => !url.startsWith(OWN_FRAMES));
  const isUsers = (url: string) =>
    typeof userFile(url.replace(POSITION, "")) === "string";
  return places.find(isUsers) ?? places[0];
}

/** Describes a thrown value, with the line in its stack. */
function oneLine(error: unknown): string {
  if (!(error instanceof Error)) {
    // Not `String()`, which fails for objects without a prototype.
    const text = typeof error === "string"
      ? JSON.stringify(error)
      : nodeUtil().inspect(error, { breakLength: Infinity });
    return `it threw ${firstLine(text)}`;
  }
  const message = firstLine(error.message);
  const frame = placeIn(error);
  const folder = `${pathToFileURL(process.cwd()).href}/`;
  const place = frame === undefined ? "" : ` (at ${frame.replace(folder, "")})`;
  const colon = message && ": ";
  return `it threw ${error.name}${colon}${message}${place}`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!;
}
