import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../helpers.ts";
import { makeCache } from "./cache.ts";

/** A clean copy of the project that a test may change. */
export interface Checkout extends AsyncDisposable {
  /** Path of the copy. */
  readonly path: string;
  /** `DENO_DIR` of the commands that run in it. */
  readonly cache: string;
  /** Changes the text of a file. */
  edit(path: string, change: (text: string) => string): Promise<void>;
  /** Commits all changes. */
  commit(): Promise<void>;
  /**
   * Lists all files that differ from the last commit, including ignored ones.
   */
  changes(): Promise<string>;
}

/**
 * Copies the project's working tree into a new git repository, without ignored
 * files.
 */
export async function makeCheckout(): Promise<Checkout> {
  const path = await Deno.makeTempDir();
  const cache = await makeCache();
  const root = fileURLToPath(ROOT);
  const listed = await git(root, [
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
  ]);
  for (const file of listed.split("\0")) {
    if (file === "") continue;
    await Deno.mkdir(dirname(`${path}/${file}`), { recursive: true });
    try {
      await Deno.copyFile(`${root}${file}`, `${path}/${file}`);
    } catch (error) {
      // Git lists deleted files until the deletion is committed.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  await git(path, ["init", "--quiet"]);
  await git(path, ["config", "user.name", "Test"]);
  await git(path, ["config", "user.email", "test@localhost"]);
  await git(path, ["config", "commit.gpgsign", "false"]);

  const checkout: Checkout = {
    path,
    cache: cache.path,
    async edit(file, change) {
      const text = await Deno.readTextFile(`${path}/${file}`);
      await Deno.writeTextFile(`${path}/${file}`, change(text));
    },
    async commit() {
      await git(path, ["add", "--all"]);
      // The copied version may already be released.
      const options = ["--quiet", "--allow-empty", "--message", "A release"];
      await git(path, ["commit", ...options]);
    },
    changes: () => git(path, ["status", "--porcelain", "--ignored"]),
    async [Symbol.asyncDispose]() {
      await cache[Symbol.asyncDispose]();
      await Deno.remove(path, { recursive: true });
    },
  };
  await checkout.commit();
  return checkout;
}

async function git(cwd: string, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args,
    cwd,
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  return decoder.decode(stdout);
}
