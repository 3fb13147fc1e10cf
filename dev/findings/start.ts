/**
 * The findings of the dev command: in the terminal, and for the viewer.
 *
 * @module
 */

import { errorResponse } from "../../core/error_response.ts";
import { addRoute } from "../../trace/http/extra_routes.ts";
import {
  createPaint,
  standardOutput,
  wantsColor,
} from "../../trace/report/terminal.ts";
import type { Tracer } from "../../trace/types.ts";
import { createFindings, type Findings } from "./findings.ts";
import { formatFinding } from "./format.ts";
import { findRejections } from "./rejections.ts";

/** Starts to look for causes, prints new ones, and serves all. */
export function startFindings(tracer: Tracer): Findings {
  const findings = createFindings(tracer);
  const stopRejections = findRejections(tracer, findings);
  const output = standardOutput();
  const paint = createPaint(wantsColor(output.env, output.isTerminal()));
  findings.subscribe((finding) => {
    const width = output.columns() || 120;
    output.write(formatFinding(finding, paint, width));
  });
  addRoute(tracer, "/findings", {
    access: "read",
    handle: (request) => answer(findings, request),
  });
  return {
    ...findings,
    close() {
      stopRejections();
      findings.close();
    },
  };
}

/** Answers a request for the findings, or for those of one trace. */
function answer(findings: Findings, { method, url }: Request): Response {
  if (method !== "GET" && method !== "HEAD") {
    const message = `The findings allow GET and HEAD, not ${method}`;
    const allow = "GET, HEAD";
    return errorResponse(405, "METHOD_NOT_ALLOWED", message, { allow });
  }
  const traceId = new URL(url).searchParams.get("traceId");
  const found = traceId === null ? findings.list() : findings.of(traceId);
  const headers = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  return Response.json({ findings: found }, { headers });
}
