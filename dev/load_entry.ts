import { pathToFileURL } from "node:url";
import { isFetcher } from "../app/fetcher.ts";
import type { Fetcher } from "../app/fetcher.ts";
import { kindOf } from "../core/check/show.ts";
import { trimEnd } from "../core/trim_end.ts";
import { DevError } from "./dev_error.ts";

/**
 * An `import()` that `deno publish` doesn't see. It would warn that it can't
 * rewrite the address for JSR; that of a user's file needs no rewriting.
 */
const importModule = new Function("url", "return import(url)") as (
  url: string,
) => Promise<{ default?: unknown }>;

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
    module = await importModule(pathToFileURL(path).href);
  } catch (error) {
    const advice = error instanceof Deno.errors.AddrInUse ? `; ${ADVICE}` : "";
    throw new DevError(`Cannot load ${entry}: ${oneLine(error)}${advice}`);
  }
  const app = module.default;
  if (isFetcher(app)) return app;
  throw new DevError(
    `Cannot serve ${entry}: it must default-export an app or an object with a fetch method, received ${
      describe(app)
    }`,
  );
}

async function findFile(entry: string): Promise<string> {
  try {
    const path = await Deno.realPath(entry);
    if ((await Deno.stat(path)).isFile) return path;
    throw new DevError(`Cannot load ${entry}: it is not a file`);
  } catch (error) {
    if (error instanceof DevError) throw error;
    throw new DevError(
      error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.NotADirectory
        ? `Cannot load ${entry}: there is no such file`
        : `Cannot load ${entry}: ${(error as Error).message}`,
    );
  }
}

const ADVICE =
  "instead of calling Deno.serve(handler), export default { fetch: handler }";

function describe(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return `no default export; ${ADVICE}`;
    case "function":
      return "a function; export default { fetch: thatFunction }";
    default: {
      const kind = kindOf(value);
      return kind === "an object" ? "an object without one" : kind;
    }
  }
}

/** Matches a place in a file at the end of a stack's line. */
const POSITION = /:\d+:\d+\)?$/;

/** Returns the place in a file that a stack's line names, if any. */
function placeOf(line: string): string | undefined {
  const text = line.trimEnd();
  const start = text.lastIndexOf("file://");
  if (start === -1 || !POSITION.test(text)) return undefined;
  return trimEnd(text.slice(start), ")");
}

/** What was thrown, and where, as the stack's first frame in a file tells. */
function oneLine(error: unknown): string {
  if (!(error instanceof Error)) {
    // Not String(): what was thrown may be an object that has no text.
    return `it threw ${
      firstLine(Deno.inspect(error, { breakLength: Infinity }))
    }`;
  }
  const message = firstLine(error.message);
  const frame = (error.stack ?? "").split("\n").map(placeOf).find((url) =>
    url !== undefined && !url.startsWith(import.meta.url)
  );
  const place = frame === undefined ? "" : ` (at ${relative(frame)})`;
  return message === ""
    ? `it threw ${error.name}${place}`
    : `it threw ${error.name}: ${message}${place}`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!;
}

function relative(url: string): string {
  return url.replace(`${pathToFileURL(Deno.cwd()).href}/`, "");
}
