import { errorResponse } from "../../core/error_response.ts";
import { addRoute } from "../../trace/http/extra_routes.ts";
import type { Tracer } from "../../trace/types.ts";
import type { Findings } from "./findings.ts";

const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/** Serves findings at `/__app/traces/findings`. `?traceId=` selects one trace. */
export function serveFindings(tracer: Tracer, findings: Findings): void {
  addRoute(tracer, "/findings", {
    access: "read",
    handle({ method, url }) {
      if (method !== "GET" && method !== "HEAD") {
        const message = `The findings allow GET and HEAD, not ${method}`;
        const allow = "GET, HEAD";
        return errorResponse(405, "METHOD_NOT_ALLOWED", message, { allow });
      }
      const id = new URL(url).searchParams.get("traceId");
      const found = id === null ? findings.list() : findings.of(id);
      return Response.json({ findings: found }, { headers: HEADERS });
    },
  });
}
