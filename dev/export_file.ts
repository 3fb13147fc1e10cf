import { appendFile, lstat, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { exportTracesHTML } from "../trace/http/viewer.ts";
import type { Tracer } from "../trace/types.ts";
import { DevError } from "./dev_error.ts";
import { countText } from "./texts.ts";

/**
 * Writes the traces of this run to a file when it is closed.
 *
 * @throws {DevError} If the file can't be written.
 */
export async function startExport(
  tracer: Tracer,
  path: string,
): Promise<{ close(): Promise<void> }> {
  // The app may change the working directory.
  const file = resolve(path);
  const fail = ({ message }: Error) => {
    const [reason] = message.split("\n");
    throw new DevError(`Cannot write ${path}: ${reason}`);
  };
  // Checked first: later there would be traces to lose.
  const isNew = await lstat(file).then(() => false, () => true);
  // Appending nothing leaves an existing file as it is.
  await appendFile(file, "").catch(fail);
  if (isNew) await rm(file).catch(fail);
  return {
    async close() {
      const present = tracer.getTraces()
        .filter(({ metadata }) => metadata.run === undefined);
      await writeFile(file, await exportTracesHTML(present)).catch(fail);
      console.log(`Wrote ${countText(present.length, "trace")} to ${path}`);
    },
  };
}
