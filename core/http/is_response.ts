import { kindOf } from "../check/show.ts";
import { pathOf } from "../path.ts";

/**
 * Whether a value is a `Response`. Servers of Node may replace the global class,
 * and `fetch()` then returns responses that aren't instances of it. Anything may
 * be passed, also a proxy that throws.
 */
export function isResponse(value: unknown): value is Response {
  try {
    return value instanceof Response ||
      Object(value)[Symbol.toStringTag] === "Response";
  } catch {
    return false;
  }
}

/**
 * Checks what code of the application has returned for a request.
 *
 * @param requirement The start of the error message, such as `fetch must return`.
 * @throws {TypeError} If it isn't a `Response`.
 */
export function checkResponse(
  value: unknown,
  request: Request,
  requirement: string,
): Response {
  if (isResponse(value)) return value;
  throw new TypeError(
    `Cannot answer ${request.method} ${
      pathOf(request.url)
    }: ${requirement} a Response, received ${kindOf(value)}`,
  );
}
