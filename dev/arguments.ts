import { closest } from "../core/check/options.ts";
import { nodeUtil } from "../core/runtime/environment.ts";
import { DevError } from "./dev_error.ts";

/** Arguments of the dev command. */
export interface DevOptions {
  /** Path of the file that default-exports the app. */
  readonly entry: string;
  /** Address to listen on. */
  readonly host: string;
  /** Port to listen on. `undefined`: 8000, or the next free one. */
  readonly port: number | undefined;
  /** Whether to trace requests. */
  readonly trace: boolean;
  /** Address of the process that also shows the traces. */
  readonly to: URL | undefined;
  /** HTML file to write the traces to on exit. */
  readonly exportFile: string | undefined;
  /** Whether to forget the traces of earlier runs. */
  readonly fresh: boolean;
  /** With `trace`: whether pages get the panel. */
  readonly panel: boolean;
  /** Whether to open the app in a browser. */
  readonly open: boolean;
  /** Whether to print the usage, and serve nothing. */
  readonly help: boolean;
}

/** The text of `--help`. */
export const USAGE = `Usage: dev ENTRY [options]

Serves the app that ENTRY default-exports: any object with a fetch method.

Options:
  --trace              trace requests: print a tree for each, and show them
                       at /__app/traces
  --fresh              with --trace: forget the traces of earlier runs, which
                       are kept in .quartet
  --export FILE.html   with --trace: on exit, write the traces to a file that
                       opens offline; under --watch, those since the last
                       restart
  --to URL             with --trace: also show the traces in the viewer of the
                       process at this address, such as http://127.0.0.1:8000
  --no-panel           with --trace: leave out the panel on pages
  --port PORT          port to listen on (default: 8000, or the next free one)
  --host HOST          address to listen on (default: 127.0.0.1)
  --open               open the app in a browser
  --help               print this text`;

/**
 * Reads the command line of the dev command.
 *
 * @throws {DevError} If an argument is missing, unknown or wrong. Its exit code
 * is 2.
 */
export function parseArguments(args: readonly string[]): DevOptions {
  if (args.includes("--watch")) {
    throw wrong(`--watch goes before the file: ${runtimeCommand()} --watch …`);
  }
  // npm writes `deno task dev -- --trace`, and the dashes are passed on.
  const { values, positionals } = parse(args.filter((arg) => arg !== "--"));
  const { help = false, trace = false, open = false, fresh = false } = values;
  const { host = "127.0.0.1", port, export: exportFile, to } = values;
  const [entry, ...rest] = positionals;
  if (entry === undefined && !help) {
    throw wrong(
      "Missing ENTRY: name the file that default-exports the app, such as main.ts",
    );
  }
  if (rest.length > 0) {
    throw wrong(`ENTRY must be one file; leave out ${rest.join(" ")}`);
  }
  const needing = NEED_TRACE.find((name) => values[name] !== undefined);
  if (needing !== undefined && !trace) {
    throw wrong(`--${needing} needs --trace: add --trace`);
  }
  if (exportFile !== undefined && !/\.html?$/i.test(exportFile)) {
    const received = JSON.stringify(exportFile);
    throw wrong(
      `--export needs the name of an .html file, received ${received}`,
    );
  }
  const receiver = to === undefined ? undefined : readAddress(to);
  if (receiver?.port === port && LOOPBACK.test(receiver?.hostname ?? "")) {
    throw wrong(
      "--to must be the address of another process, received that of this one",
    );
  }
  return {
    entry: entry ?? "",
    host,
    port: port === undefined ? undefined : readPort(port),
    trace,
    to: receiver,
    exportFile,
    fresh,
    panel: !values["no-panel"],
    open,
    help,
  };
}

function runtimeCommand(): string {
  if ("Deno" in globalThis) return "deno run -A";
  return "Bun" in globalThis ? "bun" : "node";
}

function wrong(message: string): DevError {
  return new DevError(message, 2);
}

const OPTIONS = {
  trace: { type: "boolean" },
  fresh: { type: "boolean" },
  export: { type: "string" },
  to: { type: "string" },
  "no-panel": { type: "boolean" },
  port: { type: "string" },
  host: { type: "string" },
  open: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;
/** The options that only have a meaning with `--trace`. */
const NEED_TRACE = ["export", "fresh", "to", "no-panel"] as const;
const UNKNOWN = /^Unknown option '--([\w-]+)'/;

function parse(args: readonly string[]) {
  try {
    return nodeUtil().parseArgs({
      args: [...args],
      allowPositionals: true,
      options: OPTIONS,
    });
  } catch (error) {
    // The first sentence is the problem. The rest is advice on quoting.
    const [message = ""] = (error as Error).message.split(/\.\s/);
    const [, typo = ""] = UNKNOWN.exec(message) ?? [];
    const meant = closest(typo, Object.keys(OPTIONS), 1);
    const hint = meant === undefined ? "" : `; did you mean --${meant}?`;
    throw wrong(message + hint);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  const received = JSON.stringify(text);
  throw wrong(`--port must be a number from 0 to 65535, received ${received}`);
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** Reads the address of another process, or of its viewer. */
function readAddress(text: string): URL {
  const url = URL.parse(text);
  const isAddress = url !== null && /^https?:$/.test(url.protocol) &&
    /^\/(?:__app\/traces\/?)?$/.test(url.pathname) &&
    url.search === "" && url.hash === "";
  const hasPassword = url !== null && url.username + url.password !== "";
  if (isAddress && !hasPassword) return url;
  // The text isn't repeated if it has a password.
  const received = hasPassword ? "a URL with a password" : JSON.stringify(text);
  throw wrong(
    `--to must be the address of another dev command, such as http://127.0.0.1:8000, received ${received}`,
  );
}
