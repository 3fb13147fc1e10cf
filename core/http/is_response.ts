import { kindOf } from "../check/show.ts";
import { pathOf } from "../path.ts";

/**
 * Whether a value is a `Response`. On Node, a server may replace the global class,
 * and responses from `fetch()` aren't instances of it. Safe for a proxy that
 * throws.
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
 * Checks a result of the application's code.
 *
 * @param requirement The start of the error message, such as `fetch must return`.
 * @param hint Returns how to fix a wrong value, for the end of the message.
 * @throws {TypeError} If it isn't a `Response`.
 */
export function checkResponse(
  value: unknown,
  request: Request,
  requirement: string,
  hint: (value: unknown) => string = () => "",
): Response {
  if (isResponse(value)) return value;
  throw new TypeError(
    `Cannot answer ${request.method} ${
      pathOf(request.url)
    }: ${requirement} a Response, received ${kindOf(value)}${hint(value)}`,
  );
}
