import type { SpanNotes } from "../../trace/report/format_trace.ts";
import type { Paint, Style } from "../../trace/report/terminal.ts";
import type { Severity } from "./console_text.ts";
import type { HeldLog } from "./held_logs.ts";

const STYLES: Readonly<Record<Severity, Style>> = {
  debug: "dim",
  info: "dim",
  warn: "yellow",
  error: "red",
};

/** Returns the lines of logs in the terminal, by span. */
export function logLines(logs: readonly HeldLog[], paint: Paint): SpanNotes {
  const bySpan = Map.groupBy(logs, ({ spanId }) => spanId);
  return new Map(
    [...bySpan].map((
      [id, ofSpan],
    ) => [id, ofSpan.flatMap((log) => linesOf(log, paint))]),
  );
}

function linesOf({ severity, text }: HeldLog, paint: Paint): string[] {
  const label = paint(STYLES[severity], severity.padEnd(5));
  // The text isn't cut or escaped: the console would print the same.
  return text.split("\n").map((line, index) =>
    `${index === 0 ? label : "     "} ${line}`
  );
}
