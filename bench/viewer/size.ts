/**
 * Measures the size of the viewer without traces, as sent over the network.
 *
 * Run it with `deno task bench viewer/size`.
 *
 * @module
 */

import { generateViewerHTML } from "@quartet/kit/trace";
import { gzipSize } from "../../viewer/build.ts";
import { printFigures } from "./figures.ts";

const page = await generateViewerHTML();
const { length } = new TextEncoder().encode(page);
const size = await gzipSize(page);

printFigures("The empty page of the viewer", [
  { name: "gzip", value: size / 1024, unit: "KB", limit: 70 },
  { name: "as it is", value: length / 1024, unit: "KB" },
]);
