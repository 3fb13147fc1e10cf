import { printable } from "../../core/redact/printable.ts";
import type { Finding } from "../../trace/finding.ts";
import { type Paint, truncate } from "../../trace/report/terminal.ts";

/**
 * Formats a finding as one line, such as
 * `! 12 × SELECT … FROM post WHERE id = ? posts.ts:41 (GET /posts)`.
 *
 * @param width Maximum columns. The message is cut first, then the route.
 */
export function formatFinding(
  { message, location = "", route = "" }: Finding,
  paint: Paint,
  width: number,
): string {
  const place = location === "" ? "" : ` ${printable(location)}`;
  const cause = truncate(
    printable(message),
    Math.max(20, width - PREFIX.length - place.length),
  );
  const rest = width - PREFIX.length - cause.length - place.length;
  const isNamed = route === "" || message.startsWith(route);
  const where = isNamed ? "" : ` (${printable(route)})`;
  return [
    paint("yellow", PREFIX),
    paint("bold", cause),
    paint("cyan", place),
    rest < MIN_ROUTE ? "" : paint("dim", truncate(where, rest)),
  ].join("") + "\n";
}

const PREFIX = "   ! ";
/** Less of a route says nothing. */
const MIN_ROUTE = 12;
