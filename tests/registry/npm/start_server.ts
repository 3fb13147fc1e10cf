/** A running server process. Disposing it ends it. */
export interface RunningServer extends AsyncDisposable {
  readonly origin: string;
  /** Its output so far. */
  readonly printed: string;
  /** Requests a shutdown and returns the exit code. */
  stop(): Promise<number>;
}

/** Starts a program and waits until it prints its port or address. */
export async function startServer(
  program: string,
  cwd: string,
  ...args: string[]
): Promise<RunningServer> {
  const process = new Deno.Command(program, {
    args,
    cwd,
    env: { NO_COLOR: "1", NODE_ENV: "development" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let printed = "";
  const listening = Promise.withResolvers<string>();
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      printed += text;
      const port = /Listening on (?:http:\/\/127\.0\.0\.1:)?(\d+)/.exec(printed)
        ?.[1];
      if (port !== undefined) listening.resolve(port);
    }
  };
  let code: number | undefined;
  const ended = Promise.all([
    process.status.then((status) => code = status.code),
    read(process.stdout),
    read(process.stderr),
  ]);
  ended.then(() => listening.reject(new Error(`It has ended:\n${printed}`)));

  async function end(signal: Deno.Signal): Promise<number> {
    if (code === undefined) process.kill(signal);
    await ended;
    return code!;
  }
  return {
    origin: `http://127.0.0.1:${await listening.promise}`,
    get printed() {
      return printed;
    },
    stop: () => end("SIGTERM"),
    [Symbol.asyncDispose]: async () => void await end("SIGKILL"),
  };
}
