/**
 * Open files and sockets of a process, read from `/proc`.
 *
 * @module
 */

/** Open files of a process. */
export interface OpenFiles {
  /** Number of sockets, including listening ones. */
  readonly sockets: number;
  /** Number of file descriptors, including sockets. */
  readonly all: number;
}

/**
 * Counts a process's open files.
 *
 * @returns The counts, or `undefined` without `/proc`.
 */
export async function openFilesOf(pid: number): Promise<OpenFiles | undefined> {
  const folder = `/proc/${pid}/fd`;
  let sockets = 0;
  let all = 0;
  try {
    for await (const { name } of Deno.readDir(folder)) {
      const target = await Deno.readLink(`${folder}/${name}`)
        // It was closed in the meantime.
        .catch(() => undefined);
      if (target === undefined) continue;
      all++;
      if (target.startsWith("socket:")) sockets++;
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  return { sockets, all };
}
