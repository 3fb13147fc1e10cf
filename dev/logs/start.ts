import { reportTraces } from "../../trace/report/cli.ts";
import type { SpanNotes } from "../../trace/report/format_trace.ts";
import type { Paint, Style } from "../../trace/report/terminal.ts";
import type { Tracer } from "../../trace/types.ts";
import { captureConsole } from "./capture_console.ts";
import type { Severity } from "./console_text.ts";
import type { HeldLog } from "./held_logs.ts";

const STYLES: Readonly<Record<Severity, Style>> = {
  debug: "dim",
  info: "dim",
  warn: "yellow",
  error: "red",
};

/**
 * Prints the traces of a tracer, and records the logs of requests.
 *
 * @param viewerURL Returns the address for links to traces.
 */
export function startTerminal(
  tracer: Tracer,
  viewerURL: () => string | undefined,
): { close(): void } {
  const logs = captureConsole(tracer);
  const reporter = reportTraces(
    tracer,
    { viewerURL },
    (trace, paint) => logLines(logs.take(trace), paint),
  );
  return {
    close() {
      logs.close();
      reporter.close();
    },
  };
}

/** Returns the lines of logs in the terminal, by span. */
function logLines(logs: readonly HeldLog[], paint: Paint): SpanNotes {
  const bySpan = Map.groupBy(logs, ({ spanId }) => spanId);
  const lines = Array.from(bySpan, ([id, logs]): [string, string[]] => [
    id,
    logs.flatMap((log) => linesOf(log, paint)),
  ]);
  return new Map(lines);
}

function linesOf({ severity, text }: HeldLog, paint: Paint): string[] {
  const label = paint(STYLES[severity], severity.padEnd(5));
  // The text isn't cut or escaped: the console would print the same.
  return text.split("\n").map((line, index) =>
    `${index === 0 ? label : "     "} ${line}`
  );
}
