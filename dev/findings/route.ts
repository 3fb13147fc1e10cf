import type { Tracer } from "../../trace/types.ts";
import { serveJSON } from "../serve_json.ts";
import type { Findings } from "./findings.ts";

/** Serves findings at `/__app/traces/findings`. `?traceId=` selects one trace. */
export function serveFindings(tracer: Tracer, findings: Findings): void {
  serveJSON(tracer, "/findings", (query) => {
    const id = query.get("traceId");
    return { findings: id === null ? findings.list() : findings.of(id) };
  });
}
