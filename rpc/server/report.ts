import { isClientError } from "../../core/error_response.ts";
import { isA } from "../../core/check/show.ts";
import { isResponse } from "../../core/http/response.ts";
import { printableError } from "../../core/redact/printable.ts";
import { reportError } from "../../core/report_error.ts";
import { UnavailableError } from "../../core/unavailable.ts";
import { aFailureStatus, errors, RPCError } from "../error.ts";
import type { CallInfo } from "../procedure/procedure.ts";
import type { Call } from "./call.ts";

/** Called with an error of a procedure, and its call. Nothing waits for it. */
export type ErrorReport = (error: unknown, call: CallInfo<unknown>) => void;

/** Maps any thrown value to an error that is safe to send. */
export type Reporter = (error: unknown, call: Call) => RPCError;

/**
 * Creates the reporter of a router. It passes errors that aren't meant for the
 * caller to `onError`, once.
 */
export function createReporter(onError: ErrorReport = logError): Reporter {
  return (error, call) => {
    // Code may have set a status that no response can have.
    const status = isA(error, RPCError) ? error.status : undefined;
    if (aFailureStatus.test(status)) return error as RPCError;
    if (isClientError(error)) {
      // The text of an outage is for the log, which the code that threw it wrote.
      const message = isA(error, UnavailableError)
        ? "The service is temporarily unavailable"
        : error.message;
      return retryLater(error.code, message, error.toResponse(), error);
    }
    // Others, such as redirects, mean nothing to the caller of a procedure.
    if (isResponse(error) && error.status >= 400) return fromResponse(error);
    // Stopping because the caller has disconnected isn't an error.
    if (!call.isAbandonedBy(error)) reportError(onError, error, call);
    return internalError(error);
  };
}

/** The text of an error may come from the caller. */
function logError(error: unknown, { type, path }: CallInfo<unknown>): void {
  console.error("%s %s failed:", type, path, printableError(error));
}

function internalError(cause?: unknown, status = 500): RPCError {
  return new RPCError("INTERNAL_ERROR", "Internal server error", status, {
    cause,
  });
}

/**
 * Guards throw a `Response` of 400 or more to refuse a request. Callers of
 * procedures get its status in an envelope.
 */
function fromResponse(response: Response): RPCError {
  const { status } = response;
  if (status === 401) return errors.unauthorized();
  if (status === 403) return errors.forbidden();
  if (status === 404) return errors.notFound();
  if (status === 429) {
    return retryLater("RATE_LIMITED", "Too many requests", response);
  }
  if (status >= 400 && status < 500) {
    return new RPCError("BAD_REQUEST", "The request was refused", status);
  }
  return internalError(undefined, status);
}

/** Returns an error with the status and the `Retry-After` of a response. */
function retryLater(
  code: string,
  message: string,
  { status, headers }: Response,
  cause?: unknown,
): RPCError {
  const retryAfter = headers.get("retry-after");
  return new RPCError(code, message, status, {
    ...(retryAfter ? { headers: { "retry-after": retryAfter } } : {}),
    ...(cause === undefined ? {} : { cause }),
  });
}
