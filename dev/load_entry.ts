import { pathToFileURL } from "node:url";
import { type Fetcher, isFetcher } from "../app/fetcher.ts";
import { kindOf } from "../core/check/show.ts";
import { trimEnd } from "../core/trim_end.ts";
import { DevError } from "./dev_error.ts";

/**
 * An `import()` that `deno publish` doesn't see. It would warn that it can't
 * rewrite the URL for JSR, but the URL of a user's file needs no rewriting.
 */
const importModule = new Function("url", "return import(url)") as (
  url: string,
) => Promise<{ default?: unknown }>;

/**
 * Imports the file that default-exports the app.
 *
 * @throws {DevError} If there is no such file, if it throws, or if its default
 * export has no `fetch` method.
 */
export async function loadEntry(entry: string): Promise<Fetcher> {
  const path = await findFile(entry);
  const { default: app } = await importModule(pathToFileURL(path).href)
    .catch((error) => {
      const isServing = error instanceof Deno.errors.AddrInUse;
      const advice = isServing ? `; ${ADVICE}` : "";
      throw new DevError(`Cannot load ${entry}: ${oneLine(error)}${advice}`);
    });
  if (isFetcher(app)) return app;
  throw new DevError(
    `Cannot serve ${entry}: it must default-export an app or an object with a fetch method, received ${
      describe(app)
    }`,
  );
}

async function findFile(entry: string): Promise<string> {
  let problem: string;
  try {
    const path = await Deno.realPath(entry);
    if ((await Deno.stat(path)).isFile) return path;
    problem = "it is not a file";
  } catch (error) {
    const isMissing = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory;
    problem = isMissing ? "there is no such file" : (error as Error).message;
  }
  throw new DevError(`Cannot load ${entry}: ${problem}`);
}

const ADVICE =
  "instead of calling Deno.serve(handler), export default { fetch: handler }";

function describe(value: unknown): string {
  if (value === undefined) return `no default export; ${ADVICE}`;
  if (typeof value === "function") {
    return "a function; export default { fetch: thatFunction }";
  }
  const kind = kindOf(value);
  return kind === "an object" ? "an object without one" : kind;
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

/** Describes a thrown value, with the place of its stack's first frame in a file. */
function oneLine(error: unknown): string {
  if (!(error instanceof Error)) {
    // Not `String()`, which fails for objects without a prototype.
    const text = Deno.inspect(error, { breakLength: Infinity });
    return `it threw ${firstLine(text)}`;
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
