import { isResponse } from "../../core/http/is_response.ts";
import { printableError } from "../../core/redact/printable.ts";
import { reportError } from "../../core/report_error.ts";
import { fromResponse, internalError, isA, RPCError } from "../error.ts";
import type { CallInfo } from "../procedure/procedure.ts";

/**
 * Gets what a procedure threw and the call that it threw it in. A promise that
 * it returns is not waited for.
 */
export type ErrorReport = (error: unknown, call: CallInfo<unknown>) => void;

/** Makes of whatever was thrown what the caller may see. */
export type Reporter = (error: unknown, call: ReportedCall) => RPCError;

interface ReportedCall extends CallInfo<unknown> {
  /** Whether an error only says that the caller is gone. */
  isAbandonedBy(error: unknown): boolean;
}

/**
 * Makes the reporter of a router. What was not meant for the caller is told to
 * `onError`, once.
 */
export function reporter(onError: ErrorReport = logError): Reporter {
  return (error, call) => {
    if (isA(error, RPCError)) return error;
    // Others, such as a redirection, mean nothing to who calls a procedure.
    if (isResponse(error) && error.status >= 400) {
      return fromResponse(error);
    }
    // A procedure that gives up because its caller did has done right.
    if (!call.isAbandonedBy(error)) reportError(onError, error, call);
    return internalError(error);
  };
}

/** What an error says may come from the caller. */
function logError(error: unknown, { type, path }: CallInfo<unknown>): void {
  console.error("%s %s failed:", type, path, printableError(error));
}
