/**
 * The project's settings, for a `deno.json` in another folder.
 *
 * @module
 */

import config from "../../deno.json" with { type: "json" };
import map from "../../import_map.json" with { type: "json" };
import { ROOT } from "../helpers.ts";

/** The project's packages, the kit itself, and the compiler settings. */
export const SETTINGS = {
  imports: {
    ...map.imports,
    ...Object.fromEntries(
      Object.entries(config.exports).map(([name, path]) => [
        `${config.name}${name.slice(1)}`,
        new URL(path, ROOT).href,
      ]),
    ),
    "next/cache": new URL("next/cache.ts", import.meta.url).href,
  },
  compilerOptions: {
    ...config.compilerOptions,
    types: config.compilerOptions.types.map((path) => new URL(path, ROOT).href),
  },
};
