/** What a program has printed, and how it ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a program is run. */
export interface CommandOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** Runs a program to its end. */
export async function run(
  program: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    ...options,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

/**
 * The same for a program that has to succeed.
 *
 * @throws {Error} If it doesn't, with all that it has printed.
 */
export async function runOk(
  program: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, options);
  if (code === 0) return stdout;
  throw new Error(
    `${program} ${args.join(" ")} ended with ${code}:\n${stdout}\n${stderr}`,
  );
}
