import { parseArgs } from "node:util";
import { DevError } from "./dev_error.ts";

/** What the dev command was asked to do. */
export interface DevOptions {
  /** The file that default-exports the app. */
  readonly entry: string;
  /** The address to listen on. */
  readonly host: string;
  /** The port to listen on; without one, 8000 or the next free one. */
  readonly port: number | undefined;
  /** Whether to trace requests. */
  readonly trace: boolean;
  /** The file to write the traces to on exit. */
  readonly exportFile: string | undefined;
  /** Whether to open the app in a browser. */
  readonly open: boolean;
  /** Whether to print the usage and nothing else. */
  readonly help: boolean;
}

/** What `--help` prints. */
export const USAGE = `Usage: dev ENTRY [options]

Serves the app that ENTRY default-exports: any object with a fetch method.

Options:
  --trace              trace requests: print a tree for each, and show them
                       at /__app/traces
  --export FILE.html   with --trace: on exit, write the traces to a file that
                       opens offline; under --watch, those since the last
                       restart
  --port PORT          port to listen on (default: 8000, or the next free one)
  --host HOST          address to listen on (default: 127.0.0.1)
  --open               open the app in a browser
  --help               print this text`;

/**
 * Reads the command line of the dev command.
 *
 * @throws {DevError} If it is wrong, with exit code 2.
 */
export function parseArguments(args: readonly string[]): DevOptions {
  if (args.includes("--watch")) {
    throw new DevError(
      "--watch goes before the file: deno run -A --watch …",
      2,
    );
  }
  // `deno task dev -- --trace`, as npm wants it, hands on the dashes.
  const { values, positionals } = parse(args.filter((arg) => arg !== "--"));
  const { help = false, trace = false } = values;
  if (positionals.length === 0 && !help) {
    throw new DevError(
      "Missing ENTRY, the file that default-exports the app",
      2,
    );
  }
  if (positionals.length > 1) {
    const rest = positionals.slice(1).join(" ");
    throw new DevError(`One ENTRY is enough; received also: ${rest}`, 2);
  }
  if (values.export !== undefined && !trace) {
    throw new DevError(
      "--export needs --trace: there are no traces without",
      2,
    );
  }
  if (values.export !== undefined && !/\.html?$/i.test(values.export)) {
    throw new DevError(
      `--export needs the name of an .html file, received ${
        JSON.stringify(values.export)
      }`,
      2,
    );
  }
  return {
    entry: positionals[0] ?? "",
    host: values.host ?? "127.0.0.1",
    port: values.port === undefined ? undefined : readPort(values.port),
    trace,
    exportFile: values.export,
    open: values.open ?? false,
    help,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        trace: { type: "boolean" },
        export: { type: "string" },
        port: { type: "string" },
        host: { type: "string" },
        open: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    // Its first sentence says what is wrong; the rest is advice on quoting.
    const [message] = (error as Error).message.split(/\.\s/);
    throw new DevError(message!, 2);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new DevError(
    `--port must be a number from 0 to 65535, received ${JSON.stringify(text)}`,
    2,
  );
}
