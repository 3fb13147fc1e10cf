import { parseArgs } from "node:util";

export interface Arguments {
  readonly seed: number;
  readonly runs: number;
  /** Time limit for each target, in seconds. */
  readonly seconds: number | undefined;
  readonly target: string | undefined;
  /** The position of the first input, from the report of a failure. */
  readonly path: string | undefined;
  readonly help: boolean;
}

/** Returns the text of `--help`, with the names of the targets. */
export function usageOf(targets: readonly string[]): string {
  return `Usage: deno task fuzz [options]

Passes random input to code that handles untrusted input. Shrinks an input
that fails, and prints it with the command that repeats it. Exits with 1 if
anything has failed.

Options:
  --runs N       inputs for each target (default: 10000)
  --seconds N    run each target for N seconds instead
  --seed N       seed of the inputs (default: random, and printed)
  --target NAME  run only this target
  --path PATH    with --target and --seed: begin with the input that failed
  --help         print this text

Targets: ${targets.join(", ")}`;
}

/**
 * Parses the command line.
 *
 * @throws {Error} If it's invalid.
 */
export function parseArguments(
  args: readonly string[],
  targets: readonly string[],
): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: "string" },
      seconds: { type: "string" },
      seed: { type: "string" },
      target: { type: "string" },
      path: { type: "string" },
      help: { type: "boolean" },
    },
  });
  const { target, path, help = false } = values;
  if (target !== undefined && !targets.includes(target)) {
    throw new TypeError(
      `--target must be one of ${targets.join(", ")}, received ${
        JSON.stringify(target)
      }`,
    );
  }
  if (path !== undefined && !/^\d+(:\d+)*$/.test(path)) {
    throw new TypeError(
      `--path must be numbers with colons between, received ${
        JSON.stringify(path)
      }`,
    );
  }
  if (path !== undefined && (!target || values.seed === undefined)) {
    throw new TypeError("--path needs --target and --seed");
  }
  const seconds = readNumber("seconds", values.seconds, 1);
  return {
    seed: readNumber("seed", values.seed, 0) ??
      crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1,
    runs: readNumber("runs", values.runs, 1) ??
      (seconds === undefined ? 10_000 : MAX),
    seconds,
    target,
    path,
    help,
  };
}

/** Seeds and counts are integers of 31 bits. */
const MAX = 0x7fff_ffff;

function readNumber(
  name: string,
  text: string | undefined,
  least: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= MAX) return value;
  throw new TypeError(
    `--${name} must be a whole number from ${least} to ${MAX}, received ${
      JSON.stringify(text)
    }`,
  );
}
