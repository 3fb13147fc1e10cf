/**
 * Whether a value is a `Response`. Servers of Node may put a class of their own
 * in place of the global, and then what `fetch()` and `Response.json()` give is
 * no instance of that.
 */
export function isResponse(value: unknown): value is Response {
  return value instanceof Response ||
    Object(value)[Symbol.toStringTag] === "Response";
}
