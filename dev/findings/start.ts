import {
  createPaint,
  standardOutput,
  wantsColor,
} from "../../trace/report/terminal.ts";
import type { Tracer } from "../../trace/types.ts";
import { atExit } from "../at_exit.ts";
import { serveJSON } from "../serve_json.ts";
import { createFindings, type Findings } from "./findings.ts";
import { findRejections } from "./rejections.ts";
import { formatFinding } from "./texts.ts";

/** Starts to look for causes. New ones are printed, and all are served. */
export function startFindings(tracer: Tracer): Findings {
  const findings = createFindings(tracer);
  const stopRejections = findRejections(tracer, findings);
  serveFindings(tracer, findings);
  const output = standardOutput();
  const paint = createPaint(wantsColor(output));
  findings.subscribe((finding) => {
    output.write(formatFinding(finding, paint, output.columns()));
  });
  const removeExit = atExit(findings.lookNow);
  return {
    ...findings,
    close() {
      // The last requests have just ended.
      findings.lookNow();
      removeExit();
      stopRejections();
      findings.close();
    },
  };
}

/** Serves findings at `/__app/traces/findings`. `?traceId=` selects one trace. */
export function serveFindings(tracer: Tracer, findings: Findings): void {
  serveJSON(tracer, "/findings", (query) => {
    const id = query.get("traceId");
    return { findings: id === null ? findings.list() : findings.of(id) };
  });
}
