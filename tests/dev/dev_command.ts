/**
 * Runs the dev command in its own process, as users do.
 *
 * @module
 */

import { ROOT, startDeno } from "../helpers.ts";
import type { Child, ChildOptions } from "../helpers.ts";

const DEV = new URL("dev.ts", ROOT).href;

/** A folder for the files of one test. It's deleted at the end of its block. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file and returns its path. */
  write(name: string, text: string): Promise<string>;
}

export async function makeFolder(): Promise<Folder> {
  const path = await Deno.makeTempDir();
  return {
    path,
    async write(name, text) {
      await Deno.writeTextFile(`${path}/${name}`, text);
      return name;
    },
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

/** Starts the dev command, in a folder if one is given. */
export function startDev(
  args: string[],
  folder?: Folder,
  permissions: string[] = ["-A"],
  options: ChildOptions = {},
): Child {
  const config = new URL("deno.json", ROOT).pathname;
  return startDeno(
    ["run", ...permissions, "--no-check", "--config", config, DEV, ...args],
    folder?.path ?? ROOT,
    options,
  );
}

/** A dev command that serves an app. */
export interface ServedApp extends AsyncDisposable {
  readonly child: Child;
  readonly url: URL;
}

/** Starts the dev command with the text of an app, in a folder of its own. */
export async function serveApp(
  text: string,
  ...args: string[]
): Promise<ServedApp> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await makeFolder());
  await folder.write("main.ts", text);
  const child = stack.use(
    startDev(["main.ts", "--port", "0", ...args], folder),
  );
  const url = await addressOf(child);
  const owned = stack.move();
  return { child, url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Requests a path, and returns the id of its trace. */
export async function visit(
  url: URL,
  path: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(new URL(path, url), { headers });
  await response.body?.cancel();
  return response.headers.get("x-app-trace-id")!;
}

/** The output and exit code of a command. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the dev command to its end. */
export async function runDev(
  args: string[],
  folder?: Folder,
): Promise<Outcome> {
  await using child = startDev(args, folder);
  const code = await child.code;
  return { code, stdout: child.stdout, stderr: child.stderr };
}

/** Waits for the address that a started dev command prints. */
export async function addressOf(child: Child): Promise<URL> {
  const [, url] = await child.printed(/Listening on (http:\S+)\n/);
  return new URL(url!);
}
