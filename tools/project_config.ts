import type { ProjectConfig } from "./publish_config.ts";

const ROOT = new URL("../", import.meta.url);

/** Reads `deno.json`, with the imports of `import_map.json`. */
export async function readProject(): Promise<ProjectConfig> {
  const read = async (name: string) =>
    JSON.parse(await Deno.readTextFile(new URL(name, ROOT)));
  return { ...await read("deno.json"), ...await read("import_map.json") };
}
