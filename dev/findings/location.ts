import { isAbsolute, relative } from "node:path";
import process from "node:process";
import type { SpanData } from "../../trace/types.ts";

/**
 * Returns the line of user code behind a span, such as `posts.ts:41`, or
 * `undefined` if it is unknown.
 */
export function locationOf(
  { attributes }: Pick<SpanData, "attributes">,
): string | undefined {
  const { "code.file.path": path, "code.line.number": line } = attributes;
  if (typeof path !== "string") return undefined;
  const short = isAbsolute(path) ? relative(process.cwd(), path) : path;
  return line === undefined ? short : `${short}:${line}`;
}
