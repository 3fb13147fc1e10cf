import { realpath, stat } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import process from "node:process";

/**
 * Returns the real path of a file of the project. `undefined` if it isn't an
 * existing regular file within the working directory, also behind symbolic links.
 */
export async function projectFile(path: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return undefined;
  try {
    const file = await realpath(path);
    const below = relative(await realpath(process.cwd()), file);
    const isInside = below !== "" && below !== ".." &&
      !below.startsWith(`..${sep}`) && !isAbsolute(below);
    return isInside && (await stat(file)).isFile() ? file : undefined;
  } catch {
    // It doesn't exist, or the name has a NUL.
    return undefined;
  }
}
