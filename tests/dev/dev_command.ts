/**
 * Runs the dev command as its users do: as a process of its own.
 *
 * @module
 */

import { ROOT, startDeno } from "../helpers.ts";
import type { Child } from "../helpers.ts";

const DEV = new URL("dev.ts", ROOT).href;

/** A folder for the files of one test. Gone with the block it was made in. */
export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file and gives its name. */
  write(name: string, text: string): Promise<string>;
}

/** Makes an empty folder. */
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
export function startDev(args: string[], folder?: Folder): Child {
  const config = new URL("deno.json", ROOT).pathname;
  return startDeno(
    ["run", "-A", "--no-check", "--config", config, DEV, ...args],
    folder?.path ?? ROOT,
  );
}

/** What a command that has ended has left. */
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

/** The address that a started dev command prints. */
export async function addressOf(child: Child): Promise<URL> {
  const [, url] = await child.printed(/Listening on (http:\S+)\n/);
  return new URL(url!);
}
