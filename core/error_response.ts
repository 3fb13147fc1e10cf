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
