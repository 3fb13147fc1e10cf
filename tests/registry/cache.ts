import { startDeno } from "../helpers.ts";

/** A folder for `DENO_DIR`. Disposing it removes the folder. */
export interface Cache extends AsyncDisposable {
  readonly path: string;
}

/**
 * Creates a cache without packages of JSR. It shares npm packages with the
 * tests, as a version's content is the same everywhere.
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
