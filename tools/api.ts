/**
 * Writes the public API into `docs/api.txt`.
 *
 * @module
 */

import config from "../deno.json" with { type: "json" };
import { apiText } from "./api_text.ts";
import { entryPoints } from "./entry_points.ts";

const ROOT = new URL("../", import.meta.url);

await Deno.writeTextFile(
  new URL("docs/api.txt", ROOT),
  await apiText(ROOT, entryPoints(config)),
);
