/**
 * Error responses, and errors that clients may see.
 *
 * @module
 */

/**
 * Creates an error response in the shape that all modules use:
 * `{ "error": { "code": "NOT_FOUND", "message": "…" } }`.
 *
 * @param status The HTTP status.
 * @param code A stable name for programs, in capitals.
 * @param message One sentence for people, without internal details.
 * @param headers More response headers, such as `Allow`.
 *
 * @example
 * ```ts
 * import { errorResponse } from "@quartet/kit/app";
 *
 * const response = errorResponse(404, "NOT_FOUND", "No such country");
 * console.assert(response.status === 404);
 * ```
 */
export function errorResponse(
  status: number,
  code: string,
  message: string,
  headers?: HeadersInit,
): Response {
  const init: ResponseInit = headers ? { status, headers } : { status };
  return Response.json({ error: { code, message } }, init);
}

/** Answers 405. `allow` lists the allowed methods, as in `GET, HEAD`. */
export function methodNotAllowed(message: string, allow: string): Response {
  return errorResponse(405, "METHOD_NOT_ALLOWED", message, { allow });
}

/** An error whose code, message and status clients may see. */
export interface ClientError extends Error {
  readonly code: string;
  /** Returns the response to the failed request. */
  toResponse(): Response;
}

const clientErrors = new WeakSet<object>();

/**
 * Marks an error of a module, so that other modules and Hono send its response
 * instead of reporting it.
 */
export function markClientError(error: ClientError): void {
  clientErrors.add(error);
  // Not enumerable, so that logs don't show it.
  const value = () => error.toResponse();
  Object.defineProperty(error, "getResponse", { value });
}

/** Whether an error is meant for the client. Safe for a proxy that throws. */
export function isClientError(error: unknown): error is ClientError {
  return clientErrors.has(error as object);
}
