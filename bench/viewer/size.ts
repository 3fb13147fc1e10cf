/**
 * How large the viewer is on its way over the network, without traces.
 *
 * Run it with `deno task bench viewer/size`.
 *
 * @module
 */

import { generateViewerHTML } from "@quartet/kit/trace";
import { printFigures } from "./figures.ts";

const page = await generateViewerHTML();
const bytes = new TextEncoder().encode(page);
const stream = new Blob([bytes]).stream()
  .pipeThrough(new CompressionStream("gzip"));
const { byteLength } = await new Response(stream).arrayBuffer();

printFigures("The empty page of the viewer", [
  { name: "gzip", value: byteLength / 1024, unit: "KB", limit: 45 },
  { name: "as it is", value: bytes.length / 1024, unit: "KB" },
]);
