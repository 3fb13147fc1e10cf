import { reportTraces } from "../../trace/report/cli.ts";
import type { Tracer } from "../../trace/types.ts";
import type { Part } from "../part.ts";
import { captureConsole } from "./capture_console.ts";
import { logLines } from "./log_lines.ts";

/**
 * Prints the traces of a tracer, and records the logs of requests.
 *
 * @param viewerURL Returns the address for links to traces.
 */
export function startTerminal(
  tracer: Tracer,
  viewerURL: () => string | undefined,
): Part {
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
