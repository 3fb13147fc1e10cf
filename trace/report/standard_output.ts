/**
 * Standard output and the environment, as far as the reporter needs them, on
 * Deno and on what has a `process` as Node has.
 *
 * @module
 */

/** Where a reporter prints. */
export interface StandardOutput {
  /** Writes a text, all of it and at once. */
  write(text: string): void;
  /** Whether it is a terminal. */
  isTerminal(): boolean;
  /** Columns of the terminal, if it has any and says so. */
  columns(): number | undefined;
  /** Reads a variable of the environment, if that is allowed. */
  env(name: string): string | undefined;
}

const encoder = new TextEncoder();

const ofDeno: StandardOutput = {
  write(text) {
    let rest = encoder.encode(text);
    while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
  },
  isTerminal: () => Deno.stdout.isTerminal(),
  columns: () => attempt(() => Deno.consoleSize().columns),
  env: (name) => attempt(() => Deno.env.get(name)),
};

/** What is used of Node's `process`, which other runtimes have as well. */
interface Process {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: {
    readonly isTTY?: boolean;
    readonly columns?: number;
    write(text: string): unknown;
  };
}

function ofProcess({ env, stdout }: Process): StandardOutput {
  return {
    write: (text) => void stdout.write(text),
    isTerminal: () => stdout.isTTY === true,
    columns: () => stdout.columns,
    env: (name) => env[name],
  };
}

/** Finds the standard output of this process. */
export function standardOutput(): StandardOutput {
  return "Deno" in globalThis
    ? ofDeno
    : ofProcess((globalThis as unknown as { process: Process }).process);
}

function attempt<T>(fn: () => T): T | undefined {
  try {
    return fn();
  } catch {
    return undefined;
  }
}
