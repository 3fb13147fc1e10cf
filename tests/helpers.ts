/**
 * Helpers for tests of several folders: a child process whose output a test can
 * wait for, and a connection that sends raw bytes.
 *
 * @module
 */

/**
 * A time limit for what must not depend on the machine's speed, in seconds. It's far
 * more than anything takes that works.
 */
export const UNHURRIED = 30;

/** The root of the repository. */
export const ROOT = new URL("../", import.meta.url);

/** Whether a file or folder exists at this path below the root. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(new URL(path, ROOT));
    return true;
  } catch {
    return false;
  }
}

/** A process, such as `deno`. It's killed at the end of its block. */
export interface Child extends AsyncDisposable {
  /** Its standard output so far; with `keep`, only the end. */
  readonly stdout: string;
  readonly stderr: string;
  /**
   * Resolves once standard output matches. Rejects if the process ends before.
   */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: Deno.Signal): void;
  /**
   * The exit code. Resolves when the process has ended and its output was read.
   */
  readonly code: Promise<number>;
}

export interface ChildOptions {
  /** Number of characters to keep of the output's end. Default: all. */
  readonly keep?: number;
  /** Environment variables to add to the tests' own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `deno` with these arguments. The default folder is the root. */
export function startDeno(
  args: string[],
  cwd: string | URL = ROOT,
  options: ChildOptions = {},
): Child {
  const [command, ...rest] = args;
  return startProgram(
    Deno.execPath(),
    // Otherwise standard error has the downloads of a cold cache, too.
    command === "run" && !rest.includes("--watch")
      ? [command, "--quiet", ...rest]
      : args,
    cwd,
    options,
  );
}

/** Starts a program with these arguments, in a folder. */
export function startProgram(
  program: string,
  args: string[],
  cwd: string | URL,
  { keep = Infinity, env = {} }: ChildOptions = {},
): Child {
  const process = new Deno.Command(program, {
    args,
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let stdout = "";
  let stderr = "";
  let running = true;
  const look = new Set<() => void>();
  const code = Promise.all([
    process.status,
    collect(process.stdout, (text) => {
      stdout = (stdout + text).slice(-keep);
      for (const fn of look) fn();
    }),
    collect(process.stderr, (text) => stderr += text),
  ]).then(([status]) => {
    running = false;
    for (const fn of look) fn();
    return status.code;
  });

  return {
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    printed(pattern) {
      return new Promise((resolve, reject) => {
        const fn = () => {
          const match = pattern.exec(stdout);
          if (match !== null) resolve(match);
          else if (running) return;
          else {
            reject(
              new Error(`It ended before ${pattern}:\n${stdout}\n${stderr}`),
            );
          }
          look.delete(fn);
        };
        look.add(fn);
        fn();
      });
    },
    kill: (signal) => process.kill(signal),
    code,
    async [Symbol.asyncDispose]() {
      if (running) {
        try {
          process.kill("SIGKILL");
        } catch {
          // It has already ended.
        }
      }
      await code;
    },
  };
}

async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  take: (text: string) => void,
): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    take(text);
  }
}

/**
 * Sends an HTTP request byte for byte, which `fetch` can't. Returns everything
 * received until the server closes the connection, so the request should
 * contain `Connection: close`.
 */
export async function exchange(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  let received = "";
  for (;;) {
    const size = await connection.read(buffer);
    if (size === null) return received;
    received += decoder.decode(buffer.subarray(0, size), { stream: true });
  }
}

/**
 * Returns a WebSocket handshake as it goes over the wire.
 *
 * @param changes Headers; `undefined` removes one.
 */
export function handshake(
  changes: Record<string, string | undefined> = {},
  { target = "/", method = "GET" } = {},
): string {
  const headers: Record<string, string | undefined> = {
    Host: "127.0.0.1",
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...changes,
  };
  const lines = Object.entries(headers)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n");
}

/**
 * Finds a port for a server that starts later, or stops and starts again on the
 * same one.
 *
 * The system gives out ports above this range to anyone who asks for port 0, so
 * another process could take one of those while the server is down.
 */
export function freePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}

/** Captures calls of `console.error` until the end of the block. */
export function captureErrors() {
  const calls: unknown[][] = [];
  const { error } = console;
  console.error = (...args: unknown[]) => void calls.push(args);
  return {
    calls,
    get lines(): string[] {
      return calls.map((args) => args.join(" "));
    },
    [Symbol.dispose]: () => void (console.error = error),
  };
}
