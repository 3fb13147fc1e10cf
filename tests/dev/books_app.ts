/**
 * An app under the dev command whose only route runs as many queries as a file
 * says.
 *
 * @module
 */

import { ROOT } from "../helpers.ts";
import type { Folder } from "./dev_command.ts";

/** Writes the app into a folder. */
export async function booksApp(folder: Folder, queries: number): Promise<void> {
  await folder.write(
    "main.ts",
    `
    import { createApp } from "${new URL("app/mod.ts", ROOT)}";
    import { traceQuery } from "${new URL("trace/mod.ts", ROOT)}";
    import { queries } from "./posts.ts";
    export default createApp({ routes: [{ path: "/books", loader() {
      for (let id = 0; id < queries; id++) {
        traceQuery("SELECT * FROM book WHERE id = ?", () => id);
      }
      return "books";
    } }] });`,
  );
  await saveBooks(folder, queries);
}

/** Changes the number of queries. */
export async function saveBooks(
  folder: Folder,
  queries: number,
): Promise<void> {
  await folder.write("posts.ts", `export const queries = ${queries};`);
}

/** Returns the paths of the segments in a folder, the oldest first. */
export async function segmentsIn(folder: Folder): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(`${folder.path}/.quartet`))
    .catch(() => []);
  return entries.map(({ name }) => `${folder.path}/.quartet/${name}`)
    .filter((path) => path.endsWith(".jsonl")).sort();
}

/** Waits until a segment has a trace, and returns its path. */
export async function hasKept(
  folder: Folder,
  traceId: string,
): Promise<string> {
  for (;;) {
    for (const path of await segmentsIn(folder)) {
      if ((await Deno.readTextFile(path)).includes(traceId)) return path;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
