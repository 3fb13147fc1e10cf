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

/** Whether a value is a response whose body wasn't read or sent before. */
export function isUnread(value: unknown): value is Response {
  return isResponse(value) && !value.bodyUsed;
}

/** Creates the error for a thrown response that isn't {@linkcode isUnread}. */
export function bodyUsedError({ method, url }: Request): TypeError {
  return new TypeError(
    `Cannot answer ${method} ${
      pathOf(url)
    }: the body of the thrown Response was read or sent before; throw a new one, or a clone()`,
  );
}

/**
 * Checks a result of the application's code. A response can be sent only once.
 *
 * @param requirement The start of the error message, such as `fetch must return`.
 * @param hint Returns how to fix a wrong value, for the end of the message.
 * @throws {TypeError} If it isn't a `Response`, or its body was read before.
 */
export function checkResponse(
  value: unknown,
  request: Request,
  requirement: string,
  hint: (value: unknown) => string = () => "",
): Response {
  if (isUnread(value)) return value;
  const received = isResponse(value)
    ? "one with a body that was read before; return a new one, or a clone()"
    : `${kindOf(value)}${hint(value)}`;
  throw new TypeError(
    `Cannot answer ${request.method} ${
      pathOf(request.url)
    }: ${requirement} a Response, received ${received}`,
  );
}
