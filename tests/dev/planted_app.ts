/**
 * Atlas, with four mistakes planted in a file beside it.
 *
 * @module
 */

import { ROOT } from "../helpers.ts";
import type { Folder } from "./dev_command.ts";

const PLANTED = `
import { createCache } from "${new URL("data/mod.ts", ROOT)}";
import { traceQuery } from "${new URL("trace/mod.ts", ROOT)}";

const cache = createCache();

function flagOf(id: number) {
  return traceQuery("SELECT flag FROM country WHERE id = ?", () => id); // repeated-query
}

function report() {
  const wait = () => new Promise((done) => setTimeout(done, 150));
  return traceQuery("SELECT sum(area) FROM country", wait); // slow-query
}

function population(moment: number) {
  const compute = () => Promise.resolve(moment);
  return cache.cached("population:" + moment, compute, { maxAge: 60 }); // idle-cache
}

export const planted: Record<string, () => unknown> = {
  "/planted/flags": () => Array.from({ length: 12 }, (_, id) => flagOf(id)),
  "/planted/report": report,
  "/planted/population": () => population(performance.now()),
  "/planted/crash": () => {
    throw new RangeError("no such country"); // exception
  },
};
`;

const ENTRY = `
import { createAtlas } from "${new URL("examples/atlas/atlas.ts", ROOT)}";
import { planted } from "./planted.ts";

const atlas = createAtlas({ database: ":memory:" });
export default {
  async fetch(request: Request, info: never) {
    const found = planted[new URL(request.url).pathname];
    if (found === undefined) return atlas.fetch(request, info);
    console.log("planted", new URL(request.url).pathname);
    await found();
    return new Response("done");
  },
  close: () => atlas.close(),
};
`;

/** Writes the app into a folder. */
export async function plantedApp(folder: Folder): Promise<void> {
  await folder.write("planted.ts", PLANTED);
  await folder.write("main.ts", ENTRY);
}

/** Returns the line of the mistake that a rule finds, such as \`planted.ts:8\`. */
export function plantedLine(rule: string): string {
  const lines = PLANTED.split("\n");
  const index = lines.findIndex((line) => line.endsWith(`// ${rule}`));
  return `planted.ts:${index + 1}`;
}

/** The paths of the mistakes. */
export const PLANTED_PATHS = [
  "/planted/flags",
  "/planted/report",
  "/planted/population",
  "/planted/crash",
];
