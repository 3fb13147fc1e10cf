import { parseArgs } from "node:util";

/** Options of the command. */
export interface Arguments {
  /** Duration of the load, in seconds. */
  readonly seconds: number;
  readonly clients: number;
  readonly crashes: number;
  /** Time from one fault of the cluster to the next, in seconds. */
  readonly faultEvery: number;
  /** Part of the soak to run. */
  readonly part: Part;
  readonly seed: number;
  readonly help: boolean;
}

/** The parts of the soak, or both. */
export type Part = "atlas" | "cluster" | "all";

/** Output of `--help`. */
export const USAGE = `Usage: deno task soak [options]

Puts Atlas, traced, under mixed load; then kills it in the middle of writes and
looks whether what it had acknowledged is still there. Then lets three processes
with one Redis work for as long, with a fault every few seconds. Ends with 1 if
anything was wrong.

Options:
  --minutes N      how long each part lasts (default: 10)
  --seconds N      the same, in seconds
  --clients N      clients side by side (default: 8)
  --crashes N      how often the server is killed (default: 20)
  --fault-every N  seconds from one fault to the next (default: 20)
  --part NAME      atlas, cluster or all (default: all)
  --seed N         what is done, and when it is killed (default: a random one,
                   which is printed)
  --help           print this text`;

const PARTS: readonly Part[] = ["atlas", "cluster", "all"];

/**
 * Parses the command line.
 *
 * @throws {Error} If an option is unknown or its value is invalid.
 */
export function parseArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string" },
      seconds: { type: "string" },
      clients: { type: "string" },
      crashes: { type: "string" },
      "fault-every": { type: "string" },
      part: { type: "string" },
      seed: { type: "string" },
      help: { type: "boolean" },
    },
  });
  const number = (
    name: Exclude<keyof typeof values, "help" | "part">,
    least: number,
  ) => {
    const text = values[name];
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= 0xffff_ffff) {
      return value;
    }
    throw new TypeError(
      `--${name} must be a whole number from ${least} to 4294967295, received ${
        JSON.stringify(text)
      }`,
    );
  };
  const part = PARTS.find((name) => name === (values.part ?? "all"));
  if (part === undefined) {
    throw new TypeError(
      `--part must be atlas, cluster or all, received ${
        JSON.stringify(values.part)
      }`,
    );
  }
  return {
    seconds: number("seconds", 1) ?? 60 * (number("minutes", 1) ?? 10),
    clients: number("clients", 1) ?? 8,
    crashes: number("crashes", 0) ?? 20,
    faultEvery: number("fault-every", 1) ?? 20,
    part,
    seed: number("seed", 0) ?? crypto.getRandomValues(new Uint32Array(1))[0]!,
    help: values.help ?? false,
  };
}
