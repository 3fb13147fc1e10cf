import process from "node:process";
import { codeLineOf } from "../../trace/export/attributes.ts";
import type { SpanData } from "../../trace/types.ts";

/**
 * Returns the line of user code behind a span, such as `posts.ts:41`. The path is
 * relative to the working directory. `undefined` if the line is unknown.
 */
export function shortLocation(
  span: Pick<SpanData, "attributes">,
): string | undefined {
  return codeLineOf(span, process.cwd());
}
