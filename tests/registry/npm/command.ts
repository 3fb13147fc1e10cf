/** Output and exit code of a program. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of `run()`. */
export interface CommandOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** Kills the program when aborted. */
  readonly signal?: AbortSignal;
}

/** Runs a program and waits for its end. */
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
 * Runs a program that must succeed.
 *
 * @throws {Error} If it fails. The message contains its output.
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
