/**
 * What a process holds open, as Linux tells it.
 *
 * @module
 */

/** Open files of a process. */
export interface OpenFiles {
  /** Sockets, listening ones too. */
  readonly sockets: number;
  /** All of its file descriptors, sockets too. */
  readonly all: number;
}

/**
 * Counts what a process holds open.
 *
 * @returns The counts; `undefined` where there is no `/proc`.
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
