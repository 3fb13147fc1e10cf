import { startDeno } from "../helpers.ts";

/** A folder for `DENO_DIR`. Gone with the block it was made in. */
export interface Cache extends AsyncDisposable {
  readonly path: string;
}

/**
 * Makes a cache that knows no package of JSR yet. What comes from npm is
 * shared with the tests: the packages of a version are the same everywhere.
 */
export async function makeCache(): Promise<Cache> {
  await using child = startDeno(["info", "--json"]);
  if (await child.code !== 0) throw new Error(child.stderr);
  const { npmCache } = JSON.parse(child.stdout);
  await Deno.mkdir(npmCache, { recursive: true });
  const path = await Deno.makeTempDir();
  await Deno.symlink(npmCache, `${path}/npm`);
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
