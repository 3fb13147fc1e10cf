import { printable } from "../../core/redact/printable.ts";
import type { Finding } from "../../trace/finding.ts";
import { type Paint, truncate } from "../../trace/report/terminal.ts";

/**
 * Formats a finding as one line, such as
 * `! 12 × SELECT … FROM post WHERE id = ? posts.ts:41 (GET /posts)`.
 *
 * @param width Maximum columns. A long message is cut first, or a long route.
 */
export function formatFinding(
  { message, location = "", route = "" }: Finding,
  paint: Paint,
  width: number,
): string {
  const place = location === "" ? "" : ` ${printable(location)}`;
  const isNamed = route === "" || message.startsWith(route);
  const where = isNamed ? "" : ` (${printable(route)})`;
  const room = width - PREFIX.length - place.length;
  // A short route says more than the end of a long message.
  const kept = where.length <= width / 4 && room - where.length >= MIN_MESSAGE
    ? where.length
    : 0;
  const cause = truncate(printable(message), Math.max(20, room - kept));
  const rest = room - cause.length;
  return [
    paint("yellow", PREFIX),
    paint("bold", cause),
    paint("cyan", place),
    rest < MIN_ROUTE ? "" : paint("dim", truncate(where, rest)),
  ].join("") + "\n";
}

const PREFIX = "   ! ";
/** The columns of a message beside a route. */
const MIN_MESSAGE = 50;
/** Less of a route says nothing. */
const MIN_ROUTE = 12;
