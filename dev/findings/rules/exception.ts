import { exceptionOf } from "../../../trace/export/attributes.ts";
import type { SpanData } from "../../../trace/types.ts";
import type { Evidence, Rule } from "../rule.ts";
import { lineOf } from "../texts.ts";
import { isCutOff, type Unit } from "../units.ts";

/**
 * The code has stopped work itself, or the client left while its body was read:
 * on Node after a close or a reset, on Deno after a close and after a reset.
 */
const STOPPED =
  /^(?:AbortError\b|Error: aborted$|Http: unexpected EOF|BadResource: Cannot read body)/;

/**
 * Finds exceptions that made a request, a procedure or a job fail. Code that
 * handles an exception has no finding.
 */
export const exception: Rule = (unit) =>
  [unit.root, ...unit.spans].flatMap((span): Evidence[] => {
    const {
      "exception.type": type = "Error",
      "exception.message": text = "",
    } = exceptionOf(span)?.attributes ?? { "exception.type": "AbortError" };
    const message = text === "" ? `${type}` : `${type}: ${text}`;
    if (STOPPED.test(message) || !isUnhandled(span, unit)) return [];
    // Messages, and names of requests, vary by the URL.
    const place = lineOf(span) || (span === unit.root ? "" : span.name);
    const shape = `${type} ${place}`;
    const { route } = unit;
    return [{ rule: "exception", shape, message, route, spans: [span] }];
  });

/** Whether all spans around a span failed, up to what it made fail. */
function isUnhandled(
  span: SpanData,
  { root, status, parentOf }: Unit,
): boolean {
  let at: SpanData | undefined = span;
  // Also ends at a cycle of parents.
  for (let depth = 0; at !== undefined && depth < 1_000; depth++) {
    if (at.status !== "error") return false;
    // Procedures only fail with errors that aren't meant for the caller.
    if (at.layer === "rpc") return true;
    if (at === root) {
      const isBroken = isCutOff(at) && "error.type" in at.attributes;
      return status === undefined || status >= 500 || isBroken;
    }
    at = parentOf(at);
  }
  return false;
}
